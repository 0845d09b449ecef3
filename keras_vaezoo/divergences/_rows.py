"""Conversion of arguments to float32 matrices of one row an example."""

from keras import ops


def float_rows(name, values):
    """Return `values` as a float32 tensor of shape (M, d)."""
    values = ops.convert_to_tensor(values)
    if len(values.shape) != 2:
        raise ValueError(
            f"{name} must have shape (batch, latent_dim). Received: {name}.shape={values.shape}"
        )
    return ops.cast(values, "float32")


def posterior_rows(mean, log_variance):
    """Return the parameters of M diagonal Gaussians as two float32 tensors of one shape."""
    mean = float_rows("mean", mean)
    log_variance = float_rows("log_variance", log_variance)
    require_equal_width("mean", mean, "log_variance", log_variance)
    if None not in (mean.shape[0], log_variance.shape[0]) and (
        mean.shape[0] != log_variance.shape[0]
    ):
        raise ValueError(
            "mean and log_variance must have one row for each example. "
            f"Received: mean.shape={mean.shape}, log_variance.shape={log_variance.shape}"
        )
    return mean, log_variance


def require_equal_width(first_name, first, second_name, second):
    """Refuse two matrices of different latent dimensions."""
    if first.shape[1] != second.shape[1]:
        raise ValueError(
            f"{first_name} and {second_name} must have the same latent dimensions. Received: "
            f"{first_name}.shape={first.shape}, {second_name}.shape={second.shape}"
        )


def row_count(rows):
    """Return M as a float32 scalar, also where it is unknown until the graph runs."""
    return ops.cast(ops.shape(rows)[0], "float32")
