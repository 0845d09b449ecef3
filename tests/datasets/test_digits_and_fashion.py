"""mnist, fashion_mnist and digits: files, checksums, and what is said when there are none."""

import gzip
import struct
import time

import numpy as np
import pytest

from keras_vaezoo import datasets
from keras_vaezoo.datasets import digits_and_fashion


def idx(array):
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


def write_set(folder, n=20, dots=False, compress=False):
    """Four small idx files; returns the training images."""
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True, exist_ok=True)
    kept = None
    for prefix in ("t10k", "train"):
        images = rng.integers(256, size=(n, 28, 28), dtype=np.uint8)
        labels = rng.integers(10, size=n, dtype=np.uint8)
        for what, array in (("images", images), ("labels", labels)):
            separator = "." if dots else "-"
            name = f"{prefix}-{what}{separator}idx{array.ndim}-ubyte"
            data = idx(array)
            if compress:
                name, data = name + ".gz", gzip.compress(data)
            (folder / name).write_bytes(data)
        kept = images
    return kept


@pytest.mark.parametrize("split, n", [("train", 60000), ("test", 10000)])
def test_real_fashion_mnist_is_found_by_itself(fashion_files, split, n):
    data = datasets.load("fashion_mnist", split=split)
    assert data.images.shape == (n, 28, 28, 1) and data.images.dtype == np.float32
    assert (data.images.min(), data.images.max(), data.value_range) == (0.0, 1.0, (0.0, 1.0))
    np.testing.assert_array_equal(np.bincount(data.labels), n // 10)
    # The first bytes after the header, read without the package's reader.
    stem = {"train": "train", "test": "t10k"}[split]
    with gzip.open(fashion_files / f"{stem}-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(16 + 784 * 50)[16:], np.uint8)
    np.testing.assert_array_equal(np.rint(data.images[:50] * 255).ravel(), pixels)


def test_real_fashion_mnist_is_not_taken_for_mnist(fashion_files, tmp_path):
    with pytest.raises(ValueError, match=r"holds the fashion_mnist test images, not the mnist"):
        datasets.load("mnist", split="test", data_dir=fashion_files)
    with pytest.raises(ValueError, match="both sets use the same file names"):
        datasets.load("mnist", split="test", data_dir=fashion_files, verify=False)
    # Files of the other split under the wrong name are told apart as well.
    for what in ("images-idx3", "labels-idx1"):
        (tmp_path / f"train-{what}-ubyte.gz").symlink_to(fashion_files / f"t10k-{what}-ubyte.gz")
    with pytest.raises(ValueError, match=r"fashion_mnist test images, not the fashion_mnist train"):
        datasets.load("fashion_mnist", data_dir=tmp_path)


@pytest.mark.parametrize("dots, compress", [(False, False), (True, False), (False, True)])
def test_files_of_any_spelling_are_read(tmp_path, dots, compress):
    images = write_set(tmp_path / "mnist", dots=dots, compress=compress)
    for data_dir in (tmp_path, tmp_path / "mnist"):
        data = datasets.load("mnist", data_dir=data_dir, verify=False, value_range=(-1, 1))
        np.testing.assert_allclose(data.images[..., 0], images / 127.5 - 1, atol=1e-6)
        assert data.value_range == (-1.0, 1.0) and data.labels.shape == (20,)


def test_the_environment_names_the_folder(tmp_path, monkeypatch):
    write_set(tmp_path / "mnist")
    monkeypatch.setenv("KERAS_VAEZOO_DATA", str(tmp_path))
    assert len(datasets.load("mnist", verify=False)) == 20
    with pytest.raises(FileNotFoundError):
        datasets.load("mnist", data_dir=tmp_path / "elsewhere", verify=False)


def test_unknown_files_are_refused_unless_told_otherwise(tmp_path):
    write_set(tmp_path)
    with pytest.raises(ValueError, match=r"sha256 ba891046.*Received: [0-9a-f]{64}.*verify=False"):
        datasets.load("mnist", data_dir=tmp_path)


def test_known_checksums_are_sixteen_hex_words_of_eight_files():
    known = digits_and_fashion._SHA256
    assert len(set(known.values())) == 8 and all(len(bytes.fromhex(key)) == 32 for key in known)


@pytest.mark.parametrize(
    "damage, message",
    [
        (lambda data: data[:-100], r"partly there.*announces 15696 bytes.*Received: 15596"),
        (lambda data: data + b"\0", r"announces 15696 bytes.*Received: 15697"),
        (lambda data: b"\1" + data[1:], "not an idx file"),
        (lambda data: data[:9], "partly there"),
        (lambda data: b"", "not an idx file"),
        (lambda data: b"<!DOCTYPE html>" + data, "not an idx file"),
    ],
)
def test_damaged_files_are_named(tmp_path, damage, message):
    write_set(tmp_path)
    file = tmp_path / "train-images-idx3-ubyte"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ValueError, match=message) as caught:
        datasets.load("mnist", data_dir=tmp_path, verify=False)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("damage", [lambda data: data[:-50], lambda data: b"junk" + data])
def test_damaged_compressed_files_are_named(tmp_path, damage):
    write_set(tmp_path, compress=True)
    file = tmp_path / "train-images-idx3-ubyte.gz"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ValueError, match=r"train-images-idx3-ubyte.gz is damaged or only partly"):
        datasets.load("mnist", data_dir=tmp_path, verify=False)


def test_wrong_contents_are_refused_even_unverified(tmp_path):
    write_set(tmp_path)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(np.zeros(19, np.uint8)))
    with pytest.raises(ValueError, match=r"\(20, 28, 28\) and \(19,\)"):
        datasets.load("mnist", data_dir=tmp_path, verify=False)
    (tmp_path / "train-labels-idx1-ubyte").unlink()
    with pytest.raises(FileNotFoundError, match=r"lacks the labels.*train-labels-idx1-ubyte"):
        datasets.load("mnist", data_dir=tmp_path, verify=False)


@pytest.mark.parametrize("name", ["mnist", "dsprites", "shapes3d", "celeb_a"])
def test_missing_sets_fail_at_once_with_three_ways(name):
    start = time.perf_counter()
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load(name)
    assert time.perf_counter() - start < 2
    text = str(caught.value)
    assert all(f"{number}. " in text for number in (1, 2, 3))
    assert "download=True" in text and "data_dir" in text and "KERAS_VAEZOO_DATA" in text


def test_download_without_a_network_fails_within_two_seconds(monkeypatch):
    from keras_vaezoo.datasets import tfds_sets

    # Port 9 of this machine: nothing answers there.
    monkeypatch.setattr(tfds_sets, "_HOST", ("127.0.0.1", 9))
    for variable in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    tfds_sets.builder_of("mnist")
    start = time.perf_counter()
    with pytest.raises(ConnectionError, match=r"needs a network to fetch 'mnist'"):
        datasets.load("mnist", download=True)
    assert time.perf_counter() - start < 2


def test_mnist_has_no_other_splits():
    with pytest.raises(ValueError, match=r"'train' and 'test'. Received: split='all'"):
        datasets.load("mnist", split="all")


def test_digits_are_scikit_learns():
    from sklearn.datasets import load_digits

    data = datasets.load("digits")
    assert data.images.shape == (1797, 8, 8, 1) and data.images.dtype == np.float32
    np.testing.assert_array_equal(data.images[..., 0] * 16, load_digits().images)
    np.testing.assert_array_equal(data.labels, load_digits().target)
    train, test = (
        datasets.load("digits", split=split, test_fraction=0.2) for split in ("train", "test")
    )
    assert (len(train), len(test)) == (1438, 359)
    ranged = datasets.load("digits", value_range=(-1, 1))
    assert (ranged.images.min(), ranged.images.max()) == (-1.0, 1.0)
