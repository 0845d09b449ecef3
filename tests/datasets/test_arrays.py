"""from_arrays: memory, .npy, .npz and HDF5; shapes, dtypes and errors."""

import itertools
import pickle
import tracemalloc

import h5py
import numpy as np
import pytest

from keras_vaezoo import datasets

PIXELS = np.random.default_rng(0).integers(256, size=(12, 5, 4, 3), dtype=np.uint8)
LABELS = np.arange(12)


@pytest.fixture(params=["memory", "npy", "npz", "npz compressed", "hdf5", "hdf5 compressed"])
def store(request, tmp_path):
    """A function that stores images and labels, and says how to pass them."""

    names = (tmp_path / f"{number}" for number in itertools.count())

    def as_(images, labels=LABELS):
        base = next(names)
        if request.param == "memory":
            return {"images": images, "labels": labels}
        if request.param == "npy":
            np.save(base.with_suffix(".x.npy"), images)
            np.save(base.with_suffix(".y.npy"), labels)
            return {"images": str(base.with_suffix(".x.npy")), "labels": base.with_suffix(".y.npy")}
        if request.param.startswith("npz"):
            save = np.savez if request.param == "npz" else np.savez_compressed
            save(base.with_suffix(".npz"), pictures=images, y=labels)
            return {"images": base.with_suffix(".npz"), "labels": "y"}
        chunks = {"chunks": (5, *images.shape[1:]), "compression": "gzip"}
        with h5py.File(base.with_suffix(".h5"), "w") as file:
            file.create_dataset(
                "group/pictures", data=images, **(chunks if "compressed" in request.param else {})
            )
            file["y"] = labels
        return {"images": base.with_suffix(".h5"), "labels": "y"}

    return as_


def test_pixels_are_scaled_from_everywhere(store):
    data = datasets.from_arrays(**store(PIXELS))
    assert data.images.shape == PIXELS.shape and data.value_range == (0.0, 1.0)
    expected = (PIXELS / 255).astype(np.float32)
    for key in ([7, 2, 2, 11, 3], slice(3, 8), slice(None, None, -1), np.arange(12) > 8, -1):
        np.testing.assert_allclose(data.images[key], expected[key], atol=1e-7)
    np.testing.assert_array_equal(data.labels, LABELS)
    ranged = datasets.from_arrays(**store(PIXELS), value_range=(-1, 1))
    np.testing.assert_allclose(ranged.images[:], expected * 2 - 1, atol=3e-7)


def test_floats_are_taken_as_they_are(store):
    values = np.random.default_rng(1).normal(size=(12, 6))
    data = datasets.from_arrays(**store(values))
    assert data.shape == (6,) and data.images[[1]].dtype == np.float32
    np.testing.assert_array_equal(data.images[:], values.astype(np.float32))
    assert data.value_range in (None, (data.images[:].min(), data.images[:].max()))
    assert datasets.from_arrays(**store(values), value_range=(-9, 9)).value_range == (-9, 9)


def test_nan_and_inf_name_the_row(store):
    for value in (np.nan, np.inf):
        values = np.zeros((12, 6), np.float32)
        values[8, 2] = value
        with pytest.raises(ValueError, match=rf"Example 8 holds {value} at position \(2,\)"):
            datasets.from_arrays(**store(values)).images[[3, 8]]


@pytest.mark.parametrize("dtype, top", [(bool, 1), (np.uint16, 65535)])
def test_other_pixels(store, dtype, top):
    pixels = (PIXELS[..., 0] > 99) if dtype is bool else PIXELS[..., 0].astype(dtype) * 257
    data = datasets.from_arrays(**store(pixels))
    assert data.shape == (5, 4, 1)
    np.testing.assert_allclose(data.images[:, :, :, 0], pixels / top, atol=1e-6)


def test_split_and_batches(store):
    train, test = (
        datasets.from_arrays(**store(PIXELS), split=split, test_fraction=0.25)
        for split in ("train", "test")
    )
    assert sorted([*train.labels, *test.labels]) == LABELS.tolist()
    for images, labels in train.as_tf(4, labels=True):
        np.testing.assert_allclose(images, PIXELS[labels] / 255, atol=1e-6)


@pytest.mark.parametrize(
    "shape, kind, item",
    [
        ((3, 20, 30, 5), None, (20, 30, 5)),
        ((3, 20, 30), None, (20, 30, 1)),
        ((3, 20, 2), None, (20, 2)),
        ((3, 20, 2), "images", (20, 2, 1)),
        ((3, 20, 30), "signals", (20, 30)),
        ((3, 20), None, (20,)),
        ((3, 20), "signals", (20, 1)),
    ],
)
def test_shapes(shape, kind, item):
    values = np.random.default_rng(0).random(shape, np.float32)
    data = datasets.from_arrays(values, kind=kind)
    assert data.shape == item
    np.testing.assert_array_equal(data.images.ravel(), values.ravel())


@pytest.mark.parametrize(
    "images, options, message",
    [
        (np.zeros((3, 4, 4), np.int64), {}, r"dtype int64.*astype\('uint8'\)"),
        (np.zeros((3, 4, 4), complex), {}, "dtype complex128"),
        (np.array([["a"]]), {}, "dtype <U1"),
        (np.zeros(3), {}, r"shape \(3,\)"),
        (np.zeros((0, 4, 4)), {}, r"shape \(0, 4, 4\)"),
        (np.zeros((3, 4, 4)), {"kind": "table"}, "cannot hold table"),
        (np.zeros((3, 4)), {"kind": "images"}, "cannot hold images"),
        (np.zeros((3, 4)), {"kind": "audio"}, "images, signals, table.*kind='audio'"),
        (np.zeros((3, 4)), {"labels": np.zeros(2)}, "`labels`.*3 examples.*2 rows"),
        (np.zeros((3, 4)), {"labels": "y"}, "labels='y'"),
        (np.zeros((3, 4)), {"factors": np.zeros(3)}, r"\(n, k\).*\(3,\)"),
        (np.zeros((3, 4)), {"factors": np.zeros((3, 2)), "factor_names": ["a"]}, "2 columns"),
        (np.zeros((3, 4)), {"factor_names": ["a"]}, "missing"),
    ],
)
def test_wrong_arrays(images, options, message):
    with pytest.raises(ValueError, match=message):
        datasets.from_arrays(images, **options)


def test_factors_know_their_sizes_when_they_are_whole_numbers():
    whole = np.array([[0, 4], [2, 1]])
    data = datasets.from_arrays(np.zeros((2, 4)), factors=whole, factor_names=["a", "b"])
    assert data.factor_sizes == (3, 5) and data.factor_names == ("a", "b")
    real = datasets.from_arrays(np.zeros((2, 4)), factors=whole / 3)
    assert real.factor_sizes is None and real.factor_names == ("factor_0", "factor_1")


def test_wrong_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file"):
        datasets.from_arrays(tmp_path / "none.npy")
    with pytest.raises(ValueError, match=r".npy, .npz, .h5, .hdf5. Received: 'x.mat'"):
        datasets.from_arrays("x.mat")
    with h5py.File(tmp_path / "two.h5", "w") as file:
        file["a/x"], file["b"] = np.zeros((2, 3)), np.zeros((2, 4))
    np.savez(tmp_path / "two.npz", x=np.zeros((2, 3)), b=np.zeros((2, 4)))
    for name, key in (("two.h5", "a/x"), ("two.npz", "x")):
        with pytest.raises(ValueError, match=rf"key=... It has: .*{key} \(2, 3\)"):
            datasets.from_arrays(tmp_path / name)
        with pytest.raises(ValueError, match=rf"'y'. It has: .*{key}"):
            datasets.from_arrays(tmp_path / name, key="y")
        assert datasets.from_arrays(tmp_path / name, key=key).shape == (3,)
    for name in ("cut.npy", "cut.npz", "cut.h5"):
        (tmp_path / name).write_bytes(b"\x93NUMPY half of a file")
        with pytest.raises(ValueError, match=rf"{name} is not a whole"):
            datasets.from_arrays(tmp_path / name)
    np.save(tmp_path / "objects.npy", np.array([{}, {}]), allow_pickle=True)
    with pytest.raises(ValueError, match=r"objects.npy is not a whole .npy file of numbers"):
        datasets.from_arrays(tmp_path / "objects.npy")


def test_damage_inside_a_compressed_npz_is_named(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, x=np.random.default_rng(0).random((50, 40)))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"'x' in .*a.npz is damaged"):
        datasets.from_arrays(path)


@pytest.mark.parametrize("name", ["big.npy", "big.npz", "big.h5"])
def test_files_are_not_loaded_whole(tmp_path, name):
    """40 MB on disk, of which two rows of 0.4 MB are read."""
    path, shape = tmp_path / name, (100, 400, 1000)
    if name == "big.npy":
        np.lib.format.open_memmap(path, "w+", np.uint8, shape)
    elif name == "big.npz":
        np.savez(path, x=np.zeros(shape, np.uint8))
    else:
        with h5py.File(path, "w") as file:
            file.create_dataset("x", shape, np.uint8)
    tracemalloc.start()
    rows = datasets.from_arrays(path).images[[3, 40]]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows.shape == (2, 400, 1000, 1)
    assert rows.nbytes <= peak < 12e6


def test_hdf5_rows_survive_pickling(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = PIXELS
    images = pickle.loads(pickle.dumps(datasets.from_arrays(tmp_path / "a.h5"))).images
    np.testing.assert_allclose(images[[4, 1]], PIXELS[[4, 1]] / 255, atol=1e-7)
