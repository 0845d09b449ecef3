"""Dataset: rows, splits, samples, and the roads to fit."""

import keras
import numpy as np
import pytest

from keras_vaezoo.datasets.dataset import Dataset
from keras_vaezoo.datasets.grids import factor_grid
from keras_vaezoo.datasets.lazy_images import StoredImages
from keras_vaezoo.datasets.sprites import load_sprites

SIZES = (2, 3, 4)


def numbered(n=10, lazy=False, **facts):
    """Images whose every pixel is the row number (of 255)."""
    pixels = np.broadcast_to(np.arange(n, dtype=np.uint8)[:, None, None, None], (n, 2, 3, 1))
    images = StoredImages(pixels)
    return Dataset(images if lazy else np.asarray(images), "numbered", **facts)


def grid():
    return numbered(
        24,
        lazy=True,
        factors=factor_grid(SIZES),
        factor_names=("a", "b", "c"),
        factor_sizes=SIZES,
        is_grid=True,
    )


def row_numbers(images):
    return np.rint(np.asarray(images)[:, 0, 0, 0] * 255).astype(int).tolist()


@pytest.mark.parametrize("lazy", [False, True])
def test_take_keeps_images_labels_and_factors_together(lazy):
    data = numbered(lazy=lazy, labels=np.arange(10) * 10, factors=np.arange(10)[:, None])
    part = data.take([7, 2, 2, -1])
    assert row_numbers(part.images) == [7, 2, 2, 9]
    assert part.labels.tolist() == [70, 20, 20, 90]
    assert part.factors[:, 0].tolist() == [7, 2, 2, 9]
    assert row_numbers(part.take([True, False, False, True]).images) == [7, 9]
    assert row_numbers(data.take(slice(1, None, 4)).images) == [1, 5, 9]


def test_images_are_indexed_like_an_array():
    lazy, array = numbered(lazy=True).images, numbered().images
    for key in (
        3,
        -1,
        slice(2, 8, 3),
        [4, 0, 4],
        np.array([-2, 1]),
        slice(0, 0),
        np.arange(10) % 2 == 0,
    ):
        assert lazy[key].dtype == np.float32
        np.testing.assert_array_equal(lazy[key], array[key])
    for rest in ((0, ..., 0), (slice(3, 5), 1), ([4, 1], slice(None), 2, 0), (..., 0), (..., 1, 0)):
        np.testing.assert_array_equal(lazy[rest], array[rest])
    assert lazy[[]].shape == (0, 2, 3, 1)
    assert [image[0, 0, 0] for image in lazy] == [image[0, 0, 0] for image in array]
    for key in (10, -11, [0, 10], 1.5, "a", [[0], [1]]):
        with pytest.raises(IndexError):
            lazy[key]


def test_whole_sprites_never_become_one_array():
    with pytest.raises(ValueError, match=r"11.2 GiB.*as_tf.*take"):
        np.asarray(load_sprites("train").images)
    with pytest.raises(ValueError, match=r"11.2 GiB"):
        load_sprites("train").images[:]


def test_take_refuses_nothing_at_all():
    with pytest.raises(ValueError, match="at least one row"):
        numbered().take([])
    with pytest.raises(IndexError, match="10 is out of bounds for 10 rows"):
        numbered().take([10])


def test_split_is_disjoint_complete_and_repeatable():
    train, test = numbered(50).split(0.2, seed=3)
    assert (len(train), len(test)) == (40, 10)
    assert sorted(row_numbers(train.images) + row_numbers(test.images)) == list(range(50))
    again = numbered(50).split(0.2, seed=3)[1]
    other = numbered(50).split(0.2, seed=4)[1]
    assert row_numbers(test.images) == row_numbers(again.images) != row_numbers(other.images)


@pytest.mark.parametrize("n, fraction", [(1, 0.5), (10, 0.01), (10, 0.99), (10, 0.0), (10, 1.5)])
def test_split_refuses_an_empty_part(n, fraction):
    with pytest.raises(ValueError, match=f"test_fraction={fraction}"):
        numbered(n).split(fraction)


def test_columns_of_another_length_are_refused():
    with pytest.raises(ValueError, match=r"`labels`.*10 examples.*9 rows"):
        numbered(labels=np.arange(9))


def test_sample_of_a_grid_is_uniform_and_keeps_fixed_factors():
    draws = grid().sample(4800, seed=0)
    counts = np.bincount(row_numbers(draws.images), minlength=24)
    # Chi-square with 23 degrees of freedom: 49.7 is passed once in a thousand.
    assert ((counts - 200.0) ** 2 / 200.0).sum() < 49.7
    fixed = grid().sample(300, seed=1, fixed={"b": 2})
    assert set(fixed.factors[:, 1]) == {2}
    assert set(fixed.factors[:, 0]) == {0, 1} and set(fixed.factors[:, 2]) == {0, 1, 2, 3}
    np.testing.assert_array_equal(fixed.factors, factor_grid(SIZES)[row_numbers(fixed.images)])
    values = np.arange(300) % 4
    np.testing.assert_array_equal(grid().sample(300, 1, {"c": values}).factors[:, 2], values)


def test_sample_of_a_part_draws_only_its_rows():
    rows = [0, 5, 6, 7, 20]
    part = grid().take(rows)
    assert set(row_numbers(part.sample(200, seed=0).images)) == set(rows)
    b = factor_grid(SIZES)[rows, 1]
    fixed = part.sample(200, seed=0, fixed={"b": b[1]})
    assert set(row_numbers(fixed.images)) == {
        row for row, v in zip(rows, b, strict=True) if v == b[1]
    }
    with pytest.raises(ValueError, match="No example"):
        part.take([0]).sample(2, fixed={"b": 2})


def test_sample_is_repeatable_and_names_wrong_factors():
    first, second = (row_numbers(grid().sample(50, seed=9).images) for _ in range(2))
    assert first == second != row_numbers(grid().sample(50, seed=10).images)
    with pytest.raises(ValueError, match=r"no factor 'd'.*a, b, c"):
        grid().sample(1, fixed={"d": 0})
    with pytest.raises(ValueError, match=r"0 to 2. Received: 3"):
        grid().sample(1, fixed={"b": 3})
    with pytest.raises(ValueError, match="no factors"):
        numbered().sample(1, fixed={"b": 3})


def test_index_of_inverts_the_grid():
    data = grid()
    np.testing.assert_array_equal(data.index_of(data.factors), np.arange(24))
    with pytest.raises(ValueError, match=r"between 0 and \[1, 2, 3\]"):
        data.index_of([[0, 3, 0]])
    with pytest.raises(ValueError, match="every combination"):
        data.take([0, 1]).index_of([[0, 0, 0]])


def epochs_of(road, data, epochs, **options):
    """Row numbers of the batches of some epochs."""
    if road == "tf":
        batches = data.as_tf(4, **options)
        return [[row_numbers(batch) for batch in batches] for _ in range(epochs)]
    batches, seen = data.as_pydataset(4, **options), []
    for _ in range(epochs):
        seen.append([row_numbers(batches[i][0]) for i in range(len(batches))])
        batches.on_epoch_end()
    return seen


def flat(batches):
    return sorted(number for batch in batches for number in batch)


@pytest.mark.parametrize("road", ["tf", "pydataset"])
def test_batches_cover_the_data_in_a_seeded_order(road):
    data = numbered(10, lazy=True)
    first, second = epochs_of(road, data, 2, seed=1)
    assert [len(batch) for batch in first] == [4, 4, 2]
    assert flat(first) == flat(second) == list(range(10))
    assert first != second
    assert epochs_of(road, data, 2, seed=1) == [first, second]
    assert epochs_of(road, data, 1, seed=2) != [first]
    in_order = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert epochs_of(road, data, 2, shuffle=False) == [in_order, in_order]
    assert epochs_of(road, data, 1, shuffle=False, drop_remainder=True) == [in_order[:2]]


def test_both_roads_give_the_same_batches():
    assert epochs_of("tf", numbered(), 2, seed=5) == epochs_of("pydataset", numbered(), 2, seed=5)


def test_cache_reads_each_row_once():
    reads = []

    class Counting(StoredImages):
        def _read(self, indices):
            reads.extend(indices.tolist())
            return super()._read(indices)

    data = Dataset(Counting(np.arange(10, dtype=np.uint8).reshape(10, 1, 1, 1)), "counting")
    epochs = epochs_of("pydataset", data, 3, cache=True)
    assert sorted(reads) == list(range(10))
    assert [flat(epoch) for epoch in epochs] == [list(range(10))] * 3


def test_as_tf_knows_shape_length_and_repeats():
    batches = numbered(10).as_tf(4)
    assert int(batches.cardinality()) == 3
    assert batches.element_spec.shape == (None, 2, 3, 1)
    assert batches.element_spec.dtype.name == "float32"
    assert numbered(10).as_tf(4, drop_remainder=True).element_spec.shape == (4, 2, 3, 1)
    forever = numbered(10).as_tf(4, repeat=True).take(7)
    assert [len(batch) for batch in forever] == [4, 4, 2, 4, 4, 2, 4]


@pytest.mark.parametrize("road", ["as_tf", "as_pydataset"])
def test_labels_or_factors_come_with_the_images(road):
    labelled = numbered(labels=np.arange(10))
    for data, shape in ((labelled, (4,)), (grid(), (4, 3))):
        _, targets = next(iter(getattr(data, road)(4, labels=True, shuffle=False)))
        assert tuple(targets.shape) == shape
        np.testing.assert_array_equal(np.asarray(targets), data.targets()[:4])
    with pytest.raises(ValueError, match="neither labels nor factors"):
        getattr(numbered(), road)(4, labels=True)


@pytest.mark.parametrize("batch_size", [0, -1, 2.5, None])
def test_wrong_batch_sizes_are_refused(batch_size):
    with pytest.raises(ValueError, match="batch_size"):
        numbered().as_pydataset(batch_size)


def test_batch_size_true_is_no_number():
    with pytest.raises(ValueError, match="batch_size=True"):
        numbered().as_pydataset(True)


@pytest.mark.parametrize("seed", [None, -1, 0.5])
def test_wrong_seeds_are_refused(seed):
    for road in ("as_tf", "as_pydataset"):
        with pytest.raises(ValueError, match=f"Received: seed={seed}"):
            getattr(numbered(), road)(4, seed=seed)


def test_fixed_values_are_one_or_one_each():
    name = grid().factor_names[0]
    with pytest.raises(ValueError, match=r"for each of the 4 examples. Received: shape \(2,\)"):
        grid().sample(4, fixed={name: [0, 1]})


def test_a_batch_larger_than_the_data():
    assert len(numbered().as_pydataset(100)) == 1
    with pytest.raises(ValueError, match="make no batch of 100"):
        numbered().as_pydataset(100, drop_remainder=True)


class Halver(keras.Model):
    """Learns one factor w so that w * x is x / 2; its loss needs nothing but x."""

    def __init__(self):
        super().__init__()
        self.scale = self.add_weight(shape=(), initializer="ones")

    def call(self, x):
        return self.scale * x

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        return keras.ops.mean(keras.ops.square(y_pred - x / 2))


@pytest.mark.parametrize("road", ["as_tf", "as_pydataset", "images"])
def test_fit_takes_images_alone(road):
    data = numbered(200, lazy=True)
    x = data.images if road == "images" else getattr(data, road)(32)
    model = Halver()
    model.compile(keras.optimizers.SGD(0.5))
    history = model.fit(x, epochs=3, batch_size=32 if road == "images" else None, verbose=0)
    losses = history.history["loss"]
    assert len(losses) == 3 and losses[2] < 0.5 * losses[0]


def test_fit_with_several_workers():
    model = Halver()
    model.compile(keras.optimizers.SGD(0.5))
    history = model.fit(numbered(200).as_pydataset(32, workers=3), epochs=2, verbose=0)
    assert history.history["loss"][1] < history.history["loss"][0]
