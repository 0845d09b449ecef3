"""Trains a small controlled model and writes it as .keras and as a preset, with its outputs."""

import pathlib
import sys

import keras
import numpy as np

import keras_vaezoo as vz
from tests.models.methods import build, images

folder = pathlib.Path(sys.argv[1])
model = build("BetaVAE", likelihood=vz.likelihoods.Gaussian("scalar"))
model.control("kl", vz.control.Controller(set_point=1.0, kp=0.02, maximum=4.0))
model.compile(keras.optimizers.Adam(0.01))
model.fit(images(), batch_size=16, epochs=2, verbose=0)
model.save(folder / "model.keras")
model.save_to_preset(folder / "preset")
slot = model.loss_coefficients.slot("kl")
np.savez(folder / "outputs.npz", reconstruction=model.reconstruct(images(4)), **slot)
