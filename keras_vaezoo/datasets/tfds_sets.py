"""Data sets that tensorflow_datasets has prepared on this machine, or can fetch."""

import os
import socket
import sys
import threading
from pathlib import Path

import numpy as np

# tensorflow_datasets contacts this host before every download; offline it gives up after
# more than three minutes, so the network is tried first.
_HOST = ("storage.googleapis.com", 443)
_NETWORK_SECONDS = 1.5


def folder(data_dir=None):
    """The folder in which tensorflow_datasets keeps prepared data."""
    chosen = data_dir or os.environ.get("TFDS_DATA_DIR") or "~/tensorflow_datasets"
    return Path(chosen).expanduser()


def builder_of(name, data_dir=None):
    """The builder of a tensorflow_datasets set, or None if it has none of that name."""
    import tensorflow_datasets as tfds

    try:
        return tfds.builder(name, data_dir=None if data_dir is None else str(folder(data_dir)))
    except tfds.core.DatasetNotFoundError:
        return None


def open_prepared(name, split, features, data_dir=None, download=False):
    """A `tf.data.Dataset` of a prepared set, or None if it is not prepared here.

    Args:
        name: Name of a tensorflow_datasets set.
        split: A split of it.
        features: The features to decode, as a nested dict ending in True.
        data_dir: Folder of prepared sets. None: that of tensorflow_datasets.
        download: Fetch and prepare the set if it is not there.

    Raises:
        ConnectionError: If `download` is set and there is no network.
        ValueError: If the set has no such split.
    """
    # Before tensorflow_datasets has been imported, only this folder can hold a prepared set;
    # looking there spares a second of imports.
    imported = "tensorflow_datasets" in sys.modules
    if not (download or imported or (folder(data_dir) / name).is_dir()):
        return None
    builder = builder_of(name, data_dir)
    prepared = _as_dataset(builder, split, features)
    if prepared is None and download:
        check_network(name)
        builder.download_and_prepare()
        prepared = _as_dataset(builder, split, features)
    return prepared


def _as_dataset(builder, split, features):
    import tensorflow_datasets as tfds

    known = list(builder.info.splits)
    base = split.split("[")[0]
    if known and base not in known:
        raise ValueError(
            f"'{builder.name}' has the splits {', '.join(map(repr, known))}. "
            f"Received: split={split!r}"
        )
    try:
        return builder.as_dataset(
            split=split, decoders=tfds.decode.PartialDecoding(features), shuffle_files=False
        )
    except AssertionError:  # how tensorflow_datasets says "not prepared"
        return None


def check_network(name):
    """Raises a ConnectionError within two seconds if there is no network."""
    if any(os.environ.get(key) for key in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")):
        return
    answered = threading.Event()

    def connect():
        try:
            socket.create_connection(_HOST, timeout=_NETWORK_SECONDS).close()
        except OSError:
            return
        answered.set()

    # In a thread, since looking up a name can hang for longer than any timeout of a socket.
    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(_NETWORK_SECONDS)
    if not answered.is_set():
        raise ConnectionError(
            f"download=True needs a network to fetch '{name}', and {_HOST[0]} does not answer. "
            f"Call load('{name}') without download to see the ways to get it offline."
        )


def chunks_of(prepared, features, rows=1024):
    """Yields a prepared set in pieces: one array for each of the named features.

    Args:
        prepared: The `tf.data.Dataset` of `open_prepared`.
        features: Names of features.
        rows: Examples in a piece.

    Raises:
        ValueError: If the files of the set are damaged.
    """
    import tensorflow as tf

    try:
        for chunk in prepared.batch(rows).as_numpy_iterator():
            yield tuple(chunk[feature] for feature in features)
    except tf.errors.DataLossError as error:
        raise ValueError(
            f"A prepared file of tensorflow_datasets is damaged ({error.message}). Delete the "
            "folder of that set and prepare it again."
        ) from error


def count_of(prepared):
    """Number of examples of a prepared set, or None where it is not known."""
    count = int(prepared.cardinality())
    return count if count >= 0 else None


def read_labelled(name, split, data_dir=None, download=False):
    """`(images, labels)` of a small prepared set, or None where it is not prepared."""
    features = ("image", "label")
    prepared = open_prepared(name, split, dict.fromkeys(features, True), data_dir, download)
    if prepared is None:
        return None
    images, labels = zip(*chunks_of(prepared, features), strict=True)
    return np.concatenate(images), np.concatenate(labels)
