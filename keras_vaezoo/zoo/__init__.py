"""The zoo: trained presets by name, what is known of each, and how to check it."""

from keras_vaezoo.zoo._listing import presets
from keras_vaezoo.zoo._loading import from_preset
from keras_vaezoo.zoo._recipe import Recipe, checksum, environment
from keras_vaezoo.zoo._verification import Verification, verify

__all__ = ["Recipe", "Verification", "checksum", "environment", "from_preset", "presets", "verify"]
