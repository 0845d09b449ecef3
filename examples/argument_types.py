"""Types of command-line arguments that the examples share."""

import argparse


def positive(text):
    """A whole number of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1. Received: {text!r}")
    return number
