"""The 737 rows of dSprites that GCVAE's authors train on."""

import pathlib

import numpy as np

SPLIT = "gcvae"


def gcvae_rows():
    """Row numbers `(737,)` in dSprites' order (Ezukwoke et al. 2022, the authors' code)."""
    return np.loadtxt(pathlib.Path(__file__).with_suffix(".txt"), dtype=np.int64)
