"""Prints the noise that each of two replicas draws in one step."""

import json

import tensorflow as tf

cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

from keras_vaezoo import sampling  # noqa: E402

with strategy.scope():
    layer = sampling.Sampling(seed=0)
noise = tf.function(lambda: strategy.run(lambda: layer.prior((4,))))()
print(json.dumps([value.numpy().tolist() for value in noise.values]))
