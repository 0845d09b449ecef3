"""The named terms of a loss: those that a method declares, and those that it computes."""

from keras import ops


def check_declared(method, terms, coefficients=None):
    """A ValueError for a method without terms, or with a term that no coefficient weighs.

    Args:
        method: Name of the class.
        terms: Names of the terms in the loss.
        coefficients: Names of the coefficients, where each term takes the one of its name.
    """
    if not terms:
        raise ValueError(
            f"{method} has no terms: set `terms`, the names of what compute_terms(batch) returns "
            "and the loss is the sum of. Received: terms=()"
        )
    without = [term for term in terms if coefficients is not None and term not in coefficients]
    if without:
        raise ValueError(
            f"{method} has no coefficient for the term {without[0]!r}: add it to `coefficients`, "
            f"or override term_weights. Received: coefficients={list(coefficients)}"
        )


def per_example(values, names, size):
    """`{name: (size,) float32}` of the terms and measures; a scalar counts for every example."""
    missing = [name for name in names if name not in values]
    if missing:
        raise ValueError(
            f"compute_terms(batch) must return every term and measure: {missing[0]!r} is missing. "
            f"Received: {sorted(values)}"
        )
    return {name: ops.broadcast_to(ops.cast(values[name], "float32"), (size,)) for name in names}
