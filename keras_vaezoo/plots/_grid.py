"""A grid of examples: images, signals or rows of a table, each in a cell of one picture."""

import dataclasses
from collections.abc import Callable
from textwrap import fill

import numpy as np

from keras_vaezoo.plots import _cells
from keras_vaezoo.plots._figure import LIGHT_GREY, VERMILION, new_figure

MARGIN = 0.04  # of a cell's width, on each of its sides
WIDEST = 10.0  # inches, before cells shrink
BESIDE = 1.4  # inches for the rows' labels, or more for long ones
LETTER = 0.08  # inches, of a row's label


@dataclasses.dataclass(frozen=True)
class Look:
    """How one kind of example is drawn.

    `height` is that of a cell of width 1, `inches` its width, `columns` the usual number in a row;
    `clips` says that values beyond the range are cut off, `reference` how a faint example looks.
    """

    draw: Callable
    height: float
    inches: float
    columns: int
    clips: bool
    reference: str


def _image(shape):
    height, width = _cells.mosaic_shape(shape)
    ratio = float(np.clip(height / width, 0.2, 5))
    return Look(_cells.draw_images, ratio, 0.8, columns=10, clips=True, reference="")


LINES = Look(_cells.draw_lines, 0.6, 1.7, columns=5, clips=False, reference="Grey: the original")
BARS = Look(_cells.draw_bars, 0.6, 1.7, columns=5, clips=False, reference="Dashes: the original")


def look_of(shape):
    """Return the `Look` of one example of that shape (without the batch axis)."""
    if len(shape) == 1:
        return BARS if shape[0] <= 32 else LINES
    if len(shape) == 2 and (shape[1] <= 4 or shape[0] >= 4 * shape[1]):
        return LINES
    if len(shape) in (2, 3):
        return _image(shape)
    raise ValueError(
        "An example to draw has the shape (features,), (length, channels) or "
        "(height, width, channels); give it as `shape=` if the model sees another one. "
        f"Received: an example of shape {tuple(shape)}"
    )


def reshaped(examples, shape):
    """Return `examples` with every example in the given shape (None: as it is)."""
    if shape is None:
        return examples
    if int(np.prod(shape)) != int(np.prod(examples.shape[1:])):
        raise ValueError(
            "`shape` must hold as many values as an example. Received: "
            f"shape={tuple(shape)} and examples of shape {examples.shape[1:]}"
        )
    return examples.reshape(len(examples), *shape)


def rows_of(count, columns, first_row=0.0, step=1.0):
    """Return the (row, column) places of `count` cells, `columns` to a row."""
    index = np.arange(count)
    return np.stack([first_row + step * (index // columns), index % columns], axis=1)


class Grid:
    """Examples in cells at (row, column) places; rows may be fractions, to leave a gap.

    Args:
        groups: Arrays of examples that will be drawn; together they set the range of values.
        shape: Shape to draw an example in, or None for its own.
        value_range: (low, high), or None to take it from the groups (for images: from the first).
    """

    def __init__(self, groups, shape, value_range):
        groups = [reshaped(group, shape) for group in groups]
        self.example_shape = groups[0].shape[1:]
        self.look = look_of(self.example_shape)
        ruling = groups[:1] if self.look.clips else groups
        self.limits = _cells.value_limits(ruling, value_range)
        if self.look is BARS and value_range is None:  # a bar's length says its value
            self.limits = min(0.0, self.limits[0]), max(0.0, self.limits[1])
        self.caption = _cells.describe_values(groups, self.limits, self.look.clips)
        self.shape = shape
        self.cells, self.marked = [], []
        self.row_labels, self.column_labels = {}, {}

    def add(self, examples, places, faint=False):
        """Put examples into cells; `faint` ones are the reference behind or over others."""
        self.cells.append((reshaped(examples, self.shape), np.asarray(places, float), faint))

    def mark(self, places):
        """Frame the cells at these places."""
        self.marked.extend(np.asarray(places, float))

    def figure(self, title, caption="", x_label="", y_label=""):
        """Draw everything and return the Figure."""
        places = np.concatenate([places for _, places, _ in self.cells])
        rows, columns = places.max(axis=0) + 1
        width = max(columns * self.look.inches * 0.35, min(columns * self.look.inches, WIDEST))
        height = rows * self.look.height * width / columns
        captions = ". ".join(text for text in (self.caption, caption) if text)
        below = 0.45 if captions or x_label else 0.0
        beside = max(BESIDE, 0.2 + LETTER * max(map(len, self.row_labels.values()), default=0))
        figure = new_figure(max(4.5, width + beside), height + 0.65 + below)
        axes = figure.add_subplot()
        for examples, cells, faint in self.cells:
            self.look.draw(axes, examples, self._boxes(cells), self.limits, faint)
        self._frames(axes, self._boxes(np.unique(places, axis=0)))
        if self.marked:
            self._frames(axes, self._boxes(np.array(self.marked)), VERMILION, 1.8)
        axes.set(xlim=(0, columns), ylim=(-rows * self.look.height, 0), aspect="equal")
        axes.set_anchor("E" if beside > BESIDE else "C")
        self._labels(axes, above=not x_label)
        axes.set_title(title, pad=10)
        axes.set_ylabel(y_label)
        captions = fill(captions, int(13 * figure.get_figwidth()))
        axes.set_xlabel("\n".join(text for text in (x_label, captions) if text), fontsize="small")
        channels = self.example_shape[1] if len(self.example_shape) == 2 else 1
        if self.look.draw is _cells.draw_lines and 1 < channels <= len(_cells.CATEGORIES):
            _cells.channel_legend(figure, channels)
        return figure

    def _boxes(self, places):
        """Return (left, bottom, width, height) of each place, (n, 4), in units of a cell."""
        height = self.look.height
        boxes = np.empty((len(places), 4))
        boxes[:, 0] = places[:, 1] + MARGIN
        boxes[:, 1] = -(places[:, 0] + 1) * height + MARGIN
        boxes[:, 2:] = 1 - 2 * MARGIN, height - 2 * MARGIN
        return boxes

    def _frames(self, axes, boxes, colour=LIGHT_GREY, width=0.5):
        from matplotlib.collections import PatchCollection
        from matplotlib.patches import Rectangle

        frames = [Rectangle(box[:2], *box[2:]) for box in boxes]
        axes.add_collection(
            PatchCollection(
                frames, facecolor="none", edgecolor=colour, linewidth=width, zorder=width + 3
            )
        )

    def _labels(self, axes, above):
        height = self.look.height
        axes.set_yticks(
            [-(row + 0.5) * height for row in self.row_labels], list(self.row_labels.values())
        )
        axes.set_xticks(
            [column + 0.5 for column in self.column_labels], list(self.column_labels.values())
        )
        axes.tick_params(length=0, labelsize="small", labelbottom=not above, labeltop=above)
        axes.spines[:].set_visible(False)
