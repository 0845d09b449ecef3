"""sprites: dSprites-like images, rendered when they are asked for."""

import numpy as np

from keras_vaezoo.datasets import gcvae_rows
from keras_vaezoo.datasets.dataset import Dataset
from keras_vaezoo.datasets.grids import factor_grid
from keras_vaezoo.datasets.lazy_images import LazyImages
from keras_vaezoo.datasets.scaling import check_value_range
from keras_vaezoo.datasets.splits import part

FACTOR_NAMES = ("shape", "scale", "orientation", "position_x", "position_y")
FACTOR_SIZES = (3, 6, 40, 32, 32)
FACTOR_VALUES = (
    np.arange(3),
    np.linspace(0.5, 1.0, 6),
    np.linspace(0.0, 2.0 * np.pi, 40),
    np.linspace(0.0, 1.0, 32),
    np.linspace(0.0, 1.0, 32),
)

_SIDE = 64
# No shape reaches further than 13.6 pixels from its centre: a window of 28 holds it.
_REACH = 13.6
_WINDOW = 28


def load_sprites(split, value_range=(0.0, 1.0), test_fraction=None, seed=0):
    """The whole grid of 737,280 sprites, 64x64x1, in the order of dSprites. See `load`."""
    value_range = check_value_range(value_range)
    dataset = Dataset(
        SpriteImages(value_range),
        "sprites",
        factors=factor_grid(FACTOR_SIZES),
        factor_names=FACTOR_NAMES,
        factor_sizes=FACTOR_SIZES,
        factor_values=FACTOR_VALUES,
        value_range=value_range,
        is_grid=True,
    )
    if split == gcvae_rows.SPLIT:
        return dataset.take(gcvae_rows.gcvae_rows())
    return part(dataset, split, test_fraction, seed)


class SpriteImages(LazyImages):
    """The grid of sprites as an array-like; row number as in dSprites."""

    def __init__(self, value_range=(0.0, 1.0)):
        super().__init__(np.prod(FACTOR_SIZES), (_SIDE, _SIDE, 1), value_range)

    def _read(self, indices):
        return render_sprites(np.stack(np.unravel_index(indices, FACTOR_SIZES), axis=1))


def render_sprites(factors):
    """Draws sprites from their factors.

    A sprite is a white shape on black. With the centre at 16 + 32 * position (in pixels, y
    down), the orientation t and the offsets dx, dy of a pixel's middle from the centre,

    ```
    u = (cos(t) dx - sin(t) dy) / scale        v = (sin(t) dx + cos(t) dy) / scale
    square   |u| <= 9.6 and |v| <= 9.6
    ellipse  (u / 12.77)^2 + (v / 7.21)^2 <= 1
    heart    inside the curve  u = 9.6 sin(s)^3,
             v = -1.44 - 0.662 (13 cos(s) - 5 cos(2s) - 2 cos(3s) - cos(4s))
    ```

    The formulas were fitted to published dSprites frames: most images are equal, some differ
    in up to four pixels. Orientations 0 and 39 coincide, a square repeats every quarter turn
    and an ellipse every half turn: there orientation cannot be told from the image.

    Args:
        factors: Whole numbers `(n, 5)`: shape (0 square, 1 ellipse, 2 heart), scale,
            orientation, position x, position y; see `FACTOR_SIZES` and `FACTOR_VALUES`.

    Returns:
        uint8 array `(n, 64, 64, 1)` of 0 and 255.
    """
    shape, scale, orientation, x, y = np.asarray(factors).T
    left, dx = _window(16.0 + 32.0 * FACTOR_VALUES[3][x])
    top, dy = _window(16.0 + 32.0 * FACTOR_VALUES[4][y])
    size = FACTOR_VALUES[1][scale]
    cosine = (np.cos(FACTOR_VALUES[2][orientation]) / size)[:, None]
    sine = (np.sin(FACTOR_VALUES[2][orientation]) / size)[:, None]
    u = (cosine * dx)[:, None, :] - (sine * dy)[:, :, None]
    v = (sine * dx)[:, None, :] + (cosine * dy)[:, :, None]
    inside = np.empty(u.shape, bool)
    for kind, is_inside in enumerate((_in_square, _in_ellipse, _in_heart)):
        rows = shape == kind
        inside[rows] = is_inside(u[rows], v[rows])
    images = np.zeros((len(shape), _SIDE, _SIDE, 1), np.uint8)
    windows = inside[..., None].view(np.uint8) * np.uint8(255)
    for image, window, i, j in zip(images, windows, top, left, strict=True):
        image[i : i + _WINDOW, j : j + _WINDOW] = window
    return images


def _window(centre):
    start = np.ceil(centre - _REACH - 0.5).astype(np.int64)
    return start, (start - centre)[:, None] + (np.arange(_WINDOW) + 0.5)


def _in_square(u, v):
    side = 9.6 + 1e-9
    return (np.abs(u) <= side) & (np.abs(v) <= side)


def _in_ellipse(u, v):
    return (u / 12.77) ** 2 + (v / 7.21) ** 2 <= 1.0


def _in_heart(u, v):
    # A vertical line meets the curve at s and pi - s. With q = sin(s)^2 the middle of the two
    # is -1.44 - 0.662 (-6 + 18 q - 8 q^2), half their distance 0.662 |cos(s)| (11 + 8 q).
    q = np.cbrt((u / 9.6) ** 2)
    from_middle = v + 1.44 + 0.662 * (-6.0 + q * (18.0 - 8.0 * q))
    return from_middle**2 <= 0.662**2 * (1.0 - q) * (11.0 + 8.0 * q) ** 2
