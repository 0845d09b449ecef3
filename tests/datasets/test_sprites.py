"""sprites against published pixel counts, checksums and a polygon drawn point by point."""

import hashlib
import time

import numpy as np
import pytest

from keras_vaezoo import datasets
from keras_vaezoo.datasets.sprites import FACTOR_SIZES, render_sprites


@pytest.fixture(scope="module")
def sprites():
    return datasets.load("sprites")


@pytest.mark.parametrize(
    "index, pixels",
    [(0, 100), (245760, 76), (491520, 58), (204800, 400), (450560, 288), (696320, 222)],
)
def test_pixel_counts(sprites, index, pixels):
    assert sprites.images[index].sum() == pixels


@pytest.mark.parametrize(
    "shape, md5",
    [
        (0, "be28eda4d80fa5ad2d30915c659833ea"),
        (1, "ff9eec075122360b7d80674365df3f16"),
        (2, "b993db65af7355be9c4ca44d1646579e"),
    ],
)
def test_checksums_of_the_largest_shapes(sprites, shape, md5):
    image = sprites.images[sprites.index_of([[shape, 5, 0, 0, 0]])[0]]
    bits = np.packbits(image[..., 0].astype(np.uint8))
    assert hashlib.md5(bits).hexdigest() == md5


def polygon_contains(x, y, corners):
    """Even-odd rule, one edge at a time."""
    inside = np.zeros(np.shape(x), bool)
    for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if y0 != y1:
            crosses = (y0 > y) != (y1 > y)
            inside ^= crosses & (x < x0 + (x1 - x0) * (y - y0) / (y1 - y0))
    return inside


def draw(shape, scale, orientation, x, y):
    """One sprite of its outline as a polygon."""
    s = np.linspace(0, 2 * np.pi, 1440, endpoint=False)
    outline = (
        np.array([(-9.6, -9.6), (9.6, -9.6), (9.6, 9.6), (-9.6, 9.6)]),
        np.stack([12.77 * np.cos(s), 7.21 * np.sin(s)], axis=1),
        np.stack(
            [
                9.6 * np.sin(s) ** 3,
                -1.44
                - 0.662 * (13 * np.cos(s) - 5 * np.cos(2 * s) - 2 * np.cos(3 * s) - np.cos(4 * s)),
            ],
            axis=1,
        ),
    )[shape]
    angle = 2 * np.pi * orientation / 39
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    corners = (0.5 + 0.1 * scale) * outline @ turn.T + 16 + 32 * np.array([x, y]) / 31
    columns, rows = np.meshgrid(np.arange(64) + 0.5, np.arange(64) + 0.5)
    return polygon_contains(columns, rows, corners)


def test_any_sprite_equals_its_polygon(sprites):
    rng = np.random.default_rng(0)
    differing = []
    for shape in range(3):
        for _ in range(4):
            factors = [shape, *(int(rng.integers(size)) for size in FACTOR_SIZES[1:])]
            image = sprites.images[sprites.index_of([factors])[0]][..., 0]
            differing.append(int((image.astype(bool) != draw(*factors)).sum()))
    # A polygon of 1,440 corners and the curve may part in a pixel that the edge just touches.
    assert max(differing) <= 1 and sum(differing) <= 2


def test_order_is_that_of_dsprites(sprites):
    assert len(sprites) == 737280 and sprites.factor_sizes == (3, 6, 40, 32, 32)
    shape, scale, orientation, x, y = 2, 3, 17, 9, 30
    index = ((shape * 6 + scale) * 40 + orientation) * 1024 + x * 32 + y
    assert sprites.factors[index].tolist() == [shape, scale, orientation, x, y]
    assert sprites.index_of([[shape, scale, orientation, x, y]]).tolist() == [index]
    np.testing.assert_allclose(sprites.factor_values[1][scale], 0.8)


def test_position_moves_the_middle(sprites):
    for x, y in ((0, 0), (31, 0), (12, 25)):
        image = sprites.images[sprites.index_of([[1, 5, 0, x, y]])[0]][..., 0]
        rows, columns = np.nonzero(image)
        np.testing.assert_allclose(columns.mean() + 0.5, 16 + 32 * x / 31, atol=0.3)
        np.testing.assert_allclose(rows.mean() + 0.5, 16 + 32 * y / 31, atol=0.3)


def test_first_and_last_orientation_coincide(sprites):
    factors = np.array([[shape, 4, 0, 7, 9] for shape in range(3)])
    last = factors + [0, 0, 39, 0, 0]
    np.testing.assert_array_equal(
        sprites.images[sprites.index_of(factors)], sprites.images[sprites.index_of(last)]
    )


def test_values_are_black_and_white_in_the_range_asked_for():
    for value_range in ((0.0, 1.0), (-1.0, 1.0)):
        data = datasets.load("sprites", value_range=value_range)
        images = data.images[[0, 500000]]
        assert images.shape == (2, 64, 64, 1) and images.dtype == np.float32
        assert set(np.unique(images)) == set(value_range)
        assert data.value_range == value_range


def test_every_order_of_indices_gives_the_same_images(sprites):
    indices = np.array([700000, 3, 3, 250000])
    images = sprites.images[indices]
    for image, index in zip(images, indices, strict=True):
        np.testing.assert_array_equal(image, sprites.images[int(index)])


def test_nothing_touches_the_frame():
    factors = np.array(
        [
            [s, 5, o, x, y]
            for s in range(3)
            for o in range(0, 40, 3)
            for x in (0, 31)
            for y in (0, 31)
        ]
    )
    images = render_sprites(factors)
    assert images[:, [0, -1]].max() == 0 and images[:, :, [0, -1]].max() == 0
    # No window cuts a shape off: its area is that of the shape in the middle.
    middle = factors.copy()
    middle[:, 3:] = 0
    np.testing.assert_allclose(
        images.sum((1, 2, 3)), render_sprites(middle).sum((1, 2, 3)), rtol=0.08
    )


def test_splits():
    with pytest.raises(ValueError, match=r"no test split of its own.*test_fraction=0.1"):
        datasets.load("sprites", split="test")
    test = datasets.load("sprites", split="test", test_fraction=0.001, seed=1)
    train = datasets.load("sprites", split="train", test_fraction=0.001, seed=1)
    assert (len(train), len(test)) == (736543, 737)
    with pytest.raises(ValueError, match=r"'all', 'train' and 'test'.*'val'"):
        datasets.load("sprites", split="val")


def test_rendering_is_fast(sprites):
    """A third of what examples/benchmarks/data_throughput.py must reach, for slow machines."""
    indices = np.random.default_rng(0).integers(len(sprites), size=(32, 64))
    start = time.process_time()
    for batch in indices:
        sprites.images[batch]
    assert indices.size / (time.process_time() - start) > 7000
