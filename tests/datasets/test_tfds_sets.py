"""Sets of tensorflow_datasets: mocked, and prepared from Debian's Fashion-MNIST files."""

import gzip
import shutil

import numpy as np
import pytest
import tensorflow_datasets as tfds

from keras_vaezoo import datasets
from keras_vaezoo.datasets import decoded_files, shapes3d, tfds_sets
from keras_vaezoo.datasets.dsprites import FACTOR_SIZES

N = 6


@pytest.fixture
def mocked(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_VAEZOO_DATA", str(tmp_path / "own"))
    with tfds.testing.mock_data(num_examples=N):
        yield tmp_path


@pytest.mark.parametrize(
    "name, shape, columns",
    [
        ("mnist", (28, 28, 1), None),
        ("fashion_mnist", (28, 28, 1), None),
        ("dsprites", (64, 64, 1), 5),
        ("celeb_a", (64, 64, 3), 40),
        ("shapes3d", (64, 64, 3), 6),
        ("cifar10", (32, 32, 3), None),
        ("emnist/letters", (28, 28, 1), None),
    ],
)
def test_shapes_and_ranges(mocked, name, shape, columns):
    data = datasets.load(name)
    images = np.asarray(data.images)
    assert images.shape == (N, *shape) and images.dtype == np.float32
    assert data.value_range == (0.0, 1.0) and 0.0 <= images.min() < images.max() <= 1.0
    if columns is None:
        assert data.labels.shape == (N,) and data.labels.max() < len(data.label_names)
    else:
        assert data.factors.shape == (N, columns) and len(data.factor_names) == columns
        assert (data.factors < np.array(data.factor_sizes)).all()
    assert not data.is_grid
    batch = next(iter(data.as_tf(4)))
    assert tuple(batch.shape) == (4, *shape)


def examples_of(examples):
    """A stand-in for the reading of a set: these examples."""
    import tensorflow as tf

    def as_dataset(self, *args, **kwargs):
        signature = {
            name: tf.TensorSpec(np.shape(value), np.asarray(value).dtype)
            for name, value in examples[0].items()
        }
        return tf.data.Dataset.from_generator(lambda: iter(examples), output_signature=signature)

    return as_dataset


def test_dsprites_of_zeros_and_ones_become_black_and_white_in_grid_order(tmp_path):
    labels = [f"label_{x}" for x in ("shape", "scale", "orientation", "x_position", "y_position")]
    rows = [(2, 0, 0, 0, 1), (0, 5, 1, 2, 3), (0, 5, 1, 2, 2)]
    examples = []
    for number, row in enumerate(rows):
        image = np.zeros((64, 64, 1), np.uint8)
        image[number] = 1
        examples.append({"image": image, **dict(zip(labels, row, strict=True))})
    as_dataset = examples_of(examples)
    with tfds.testing.mock_data(as_dataset_fn=as_dataset):
        data = datasets.load("dsprites", data_dir=tmp_path, value_range=(-1, 1))
    assert data.factors.tolist() == [list(rows[i]) for i in (2, 1, 0)]
    assert data.factor_sizes == FACTOR_SIZES
    expected = -np.ones((3, 64, 64, 1), np.float32)
    for place, number in enumerate((2, 1, 0)):
        expected[place, number] = 1
    np.testing.assert_array_equal(data.images[:], expected)


def test_celeb_a_is_cut_and_resized(tmp_path):
    # White where the middle 140x140 pixels are, black around: what is kept is all white.
    image = np.zeros((218, 178, 3), np.uint8)
    image[39:179, 19:159] = 255
    names = tfds.builder("celeb_a").info.features["attributes"]
    examples = [{"image": image}] * 2

    def as_dataset(self, *args, **kwargs):
        import tensorflow as tf

        images = tf.data.Dataset.from_tensor_slices(np.stack([e["image"] for e in examples]))
        return images.map(
            lambda x: {"image": x, "attributes": {name: name == "Smiling" for name in names}}
        )

    with tfds.testing.mock_data(as_dataset_fn=as_dataset):
        data = datasets.load("celeb_a", split="validation", data_dir=tmp_path)
    np.testing.assert_array_equal(data.images, np.ones((2, 64, 64, 3), np.float32))
    assert data.factors.sum() == 2
    assert data.factors[0, data.factor_names.index("Smiling")] == 1


def test_large_sets_are_decoded_once_to_disk(mocked, monkeypatch):
    in_memory = datasets.load("cifar10")
    monkeypatch.setattr(decoded_files, "MEMORY_LIMIT_BYTES", 1000)
    monkeypatch.setattr(tfds_sets, "count_of", lambda prepared: N)
    first = datasets.load("cifar10")
    folder = mocked / "own" / "decoded"
    (made,) = folder.iterdir()
    assert "cifar10" in made.name and "partial" not in made.name
    monkeypatch.setattr(tfds_sets, "chunks_of", lambda *args: pytest.fail("decoded again"))
    second = datasets.load("cifar10")
    for data in (first, second):
        np.testing.assert_array_equal(data.images[:], in_memory.images)
        np.testing.assert_array_equal(data.labels, in_memory.labels)


def test_a_stopped_decoding_leaves_nothing(mocked, monkeypatch):
    monkeypatch.setattr(decoded_files, "MEMORY_LIMIT_BYTES", 1000)
    monkeypatch.setattr(tfds_sets, "count_of", lambda prepared: N + 1)
    with pytest.raises(ValueError, match=f"should have {N + 1} images. Received: {N}"):
        datasets.load("cifar10")
    assert list((mocked / "own" / "decoded").iterdir()) == []


def test_a_full_disk_is_reported_before_decoding(mocked, monkeypatch):
    monkeypatch.setattr(decoded_files, "MEMORY_LIMIT_BYTES", 1000)
    monkeypatch.setattr(tfds_sets, "count_of", lambda prepared: 10**15)
    with pytest.raises(OSError, match=r"needs .* GiB in .*own"):
        datasets.load("cifar10")


def test_images_of_several_sizes_need_a_size(mocked):
    with pytest.raises(ValueError, match=r"several sizes. Pass size="):
        datasets.load("oxford_flowers102")
    data = datasets.load("oxford_flowers102", size=(20, 30))
    assert data.images.shape == (N, 20, 30, 3)


def test_a_set_without_images_is_refused():
    with pytest.raises(ValueError, match=r"no feature 'image'.*text"):
        datasets.load("imdb_reviews")


def test_a_set_that_is_not_prepared(tmp_path):
    with pytest.raises(FileNotFoundError, match=rf"'kmnist' was not found.*{tmp_path}"):
        datasets.load("kmnist", data_dir=tmp_path)


def test_the_real_builder(fashion_files, tmp_path, monkeypatch):
    """100 images of each split, prepared by tensorflow_datasets from Debian's files."""

    def downloaded(self, urls):
        paths = {}
        for key, url in urls.items():
            name = url.split("/")[-1]
            paths[key] = tmp_path / name.removesuffix(".gz")
            with gzip.open(fashion_files / name) as source, open(paths[key], "wb") as target:
                shutil.copyfileobj(source, target)
        return paths

    monkeypatch.setattr(tfds.download.DownloadManager, "download_and_extract", downloaded)
    builder = tfds.builder("fashion_mnist", data_dir=str(tmp_path / "prepared"))
    builder.download_and_prepare(
        download_config=tfds.download.DownloadConfig(max_examples_per_split=100)
    )
    data = datasets.load("fashion_mnist", split="test", data_dir=tmp_path / "prepared")
    assert data.images.shape == (100, 28, 28, 1)
    files = datasets.load("fashion_mnist", split="test", data_dir=fashion_files).take(range(100))
    rows, expected = (
        {(image.tobytes(), label) for image, label in zip(part.images, part.labels, strict=True)}
        for part in (data, files)
    )
    assert rows == expected
    with pytest.raises(ValueError, match=r"has the splits 'train', 'test'.*'validation'"):
        tfds_sets.open_prepared(
            "fashion_mnist", "validation", {"image": True}, tmp_path / "prepared"
        )


def test_damaged_prepared_files_are_named():
    import tensorflow as tf

    def broken():
        yield {"image": np.zeros((2, 2, 1), np.uint8)}
        raise tf.errors.DataLossError(None, None, "corrupted record at 12")

    class Prepared:
        def batch(self, rows):
            return self

        def as_numpy_iterator(self):
            return broken()

    with pytest.raises(ValueError, match=r"damaged \(corrupted record at 12\)"):
        list(tfds_sets.chunks_of(Prepared(), ("image",)))


def test_shapes3d_values_become_classes():
    values = np.array([[0.1, 0.9, 0.0, 0.75 + 0.5 / 7, 3, -30 + 60 / 14 * 5]])
    assert shapes3d._classes_of(values).tolist() == [[1, 9, 0, 1, 3, 5]]
