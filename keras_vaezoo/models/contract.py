"""The contract of networks: what an encoder and a decoder must give, checked before any work."""

import keras

_PASSED_THROUGH = (
    keras.layers.Reshape,
    keras.layers.Flatten,
    keras.layers.Cropping1D,
    keras.layers.Cropping2D,
    keras.layers.Cropping3D,
    keras.layers.UpSampling1D,
    keras.layers.UpSampling2D,
    keras.layers.UpSampling3D,
)
_BOUNDED = ("sigmoid", "tanh", "softmax", "hard_sigmoid", "hard_tanh")


def network_shapes(encoder, decoder, likelihood, mean_only=False):
    """Checks both networks and gives `(input_shape, latent_dim)`.

    Args:
        encoder: `(batch, *input_shape)` -> `[mean, log_variance]`, each `(batch, latent_dim)`, or
            a dict with these keys.
        decoder: `(batch, latent_dim)` -> raw parameters of p(x|z) with shape `input_shape`, its
            last axis times `likelihood.parameters_per_value`.
        likelihood: The likelihood object.
        mean_only: Whether an encoder that gives the mean alone is accepted.

    Raises:
        ValueError: If a network is not a built Keras model, has other ends, or does not fit.
    """
    for name, network in (("encoder", encoder), ("decoder", decoder)):
        if not isinstance(network, keras.Model):
            raise ValueError(
                f"{name} must be a keras.Model. Received: {type(network).__name__}. "
                "keras_vaezoo.networks.autoencoder(input_shape, latent_dim) gives a pair."
            )
    input_shape = _input_shape(encoder, "encoder")
    latent_shape = _input_shape(decoder, "decoder")
    means = _posterior_shapes(encoder, input_shape, mean_only)
    latent_dim = means[0][-1]
    if any(len(shape) != 2 or shape[-1] != latent_dim for shape in means) or not latent_dim:
        raise ValueError(
            "The encoder must give mean and log_variance of shape (batch, latent_dim) each. "
            f"Received: {means}"
        )
    if latent_shape != (latent_dim,):
        raise ValueError(
            f"encoder and decoder do not fit: the encoder gives codes of shape ({latent_dim},), "
            f"the decoder takes {latent_shape}."
        )
    output = output_shape(decoder, latent_dim)
    wanted = (*input_shape[:-1], input_shape[-1] * likelihood.parameters_per_value)
    if not isinstance(output, tuple) or tuple(output[1:]) != wanted:
        raise ValueError(
            f"encoder and decoder do not fit: the encoder takes shape {input_shape}, so with "
            f"{type(likelihood).__name__} the decoder must give {wanted}. Received: decoder "
            f"output {output}"
        )
    _refuse_bounded(decoder, likelihood)
    _refuse_scale_of_another_shape(likelihood, input_shape)
    return input_shape, latent_dim


def output_shape(network, latent_dim):
    """Shape that a network gives for codes; other than a tuple if it gives no single tensor."""
    output = network.compute_output_spec(keras.KerasTensor((None, latent_dim)))
    return getattr(output, "shape", output)


def posterior_parameters(outputs):
    """`(mean, log_variance or None)` from an encoder's outputs in any accepted form."""
    if isinstance(outputs, dict):
        return outputs["mean"], outputs["log_variance"]
    if isinstance(outputs, (list, tuple)):
        return (outputs[0], outputs[1]) if len(outputs) > 1 else (outputs[0], None)
    return outputs, None


def _input_shape(network, name):
    try:
        shape = network.input_shape
    except (AttributeError, ValueError):
        shape = None
    if shape is None:
        shape = (network.get_build_config() or {}).get("input_shape")
    if not shape or not all(size is None or isinstance(size, int) for size in shape):
        raise ValueError(
            f"{name} must take one tensor and be built: call it once on data, or build it with "
            f"the functional API. Received: {type(network).__name__} {network.name!r} with "
            f"input_shape={shape}"
        )
    return tuple(shape[1:])


def _posterior_shapes(encoder, input_shape, mean_only):
    outputs = encoder.compute_output_spec(keras.KerasTensor((None, *input_shape)))
    count = len(outputs) if isinstance(outputs, (list, tuple, dict)) else 1
    keys_fit = not isinstance(outputs, dict) or set(outputs) == {"mean", "log_variance"}
    if not keys_fit or count not in ((1, 2) if mean_only else (2,)):
        found = sorted(outputs) if isinstance(outputs, dict) else f"{count} output(s)"
        raise ValueError(
            "The encoder must give [mean, log_variance], in that order, or a dict with these "
            f"keys. Received: {found}"
        )
    mean, log_variance = posterior_parameters(outputs)
    return [tuple(t.shape) for t in (mean, log_variance) if t is not None]


def _refuse_bounded(decoder, likelihood):
    activation = last_activation(decoder)
    if likelihood.refuses_bounded_decoder and activation in _BOUNDED:
        raise ValueError(
            f"The decoder ends in {activation}, but {type(likelihood).__name__} applies its own "
            "sigmoid: give the layer before it, or pass Bernoulli(from_logits=False). A double "
            "sigmoid trains quietly to a bad optimum."
        )


def _refuse_scale_of_another_shape(likelihood, input_shape):
    scale = getattr(likelihood, "log_scale", None)
    if scale is not None and tuple(scale.shape) not in ((), input_shape):
        raise ValueError(
            f"This {type(likelihood).__name__} already learns a scale of shape "
            f"{tuple(scale.shape)} in another model; make a new one for shape {input_shape}."
        )


def last_activation(network):
    """Name of the last activation of a Keras model, or `None` where it cannot be seen."""
    if isinstance(network, keras.Sequential):
        operation, before = network.layers[-1], list(network.layers[:-1])
    elif getattr(network, "outputs", None):
        operation, before = network.outputs[0]._keras_history.operation, None
    else:
        return None
    while operation is not None:
        if isinstance(operation, keras.Model):
            return last_activation(operation)
        if isinstance(operation, keras.layers.Softmax):
            return "softmax"
        activation = getattr(operation, "activation", None)
        name = getattr(activation, "__name__", None)
        if activation is not None and name != "linear":
            return name
        if not isinstance(operation, (*_PASSED_THROUGH, keras.layers.Activation)):
            return name
        operation = _previous(operation, before)
    return None


def _previous(operation, before):
    if before is not None:
        return before.pop() if before else None
    parents = operation._inbound_nodes[0].parent_nodes
    return parents[0].operation if parents else None
