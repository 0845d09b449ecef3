"""What a mistyped name may have meant."""

import difflib


def did_you_mean(name, known, n=1):
    """The question "Did you mean 'beta'? " with up to `n` close names; empty without any."""
    close = difflib.get_close_matches(str(name), list(known), n=n, cutoff=0.5)
    return f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
