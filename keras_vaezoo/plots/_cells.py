"""Drawing of examples inside boxes, one function a kind: images, lines, bars."""

from itertools import pairwise

import numpy as np

from keras_vaezoo.plots._figure import BLUE, CATEGORIES, LIGHT_GREY, number

NOT_FINITE = (1.0, 0.55, 0.0)  # orange
LONGEST_LINE = 1000  # values; a longer line is drawn by the extremes of 500 stretches


def value_limits(groups, value_range):
    """Return (low, high) of the values to show.

    A given range is kept. Otherwise [0, 1] holds for values within it, [0, 255] for uint8, and
    the range of the finite values for the rest.
    """
    if value_range is not None:
        low, high = value_range
        if not (np.isfinite([low, high]).all() and low < high):
            raise ValueError(
                "`value_range` must be two finite numbers, the lower one first. "
                f"Received: value_range={value_range!r}"
            )
        return float(low), float(high)
    if all(group.dtype == np.uint8 for group in groups):
        return 0.0, 255.0
    low, high = extremes(groups)
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def extremes(groups):
    """Return the lowest and highest finite value of several arrays, (0, 1) without any."""
    finite = [np.asarray(group, float)[np.isfinite(group)] for group in groups]
    finite = [values for values in finite if values.size]
    if not finite:
        return 0.0, 1.0
    return min(float(v.min()) for v in finite), max(float(v.max()) for v in finite)


def describe_values(groups, limits, clips):
    """Return the caption that says how values became shades or heights ("" for plain images)."""
    low, high = extremes(groups)
    parts = []
    if clips and (low < limits[0] or high > limits[1]):
        parts.append(
            f"Shown from {number(limits[0])} to {number(limits[1])}; "
            f"the values run from {number(low)} to {number(high)}"
        )
    elif clips and limits != (0.0, 1.0):
        parts.append(f"Shown from {number(limits[0])} to {number(limits[1])}")
    elif not clips:
        parts.append(
            f"Each panel: {groups[0].shape[1]:,} values across, "
            f"from {number(limits[0])} to {number(limits[1])} upwards"
        )
    channels = groups[0].shape[3] if groups[0].ndim == 4 else 1
    if clips and channels not in (1, 3):
        parts.append(f"Each image: its {channels} channels")
    if not all(np.isfinite(group).all() for group in groups):
        parts.append("Some values are not finite" + (" (orange)" if clips else ""))
    return ". ".join(parts)


def mosaic_shape(shape):
    """Return (height, width) in pixels of an image whose extra channels lie side by side."""
    height, width, *rest = shape
    channels = rest[0] if rest else 1
    columns = 1 if channels == 3 else int(np.ceil(np.sqrt(channels)))
    rows = 1 if channels == 3 else -(-channels // columns)
    return rows * (height + 1) - 1, columns * (width + 1) - 1


def as_rgb(image, limits):
    """Return an image (h, w) or (h, w, channels) as red, green and blue in [0, 1]."""
    image = image[..., None] if image.ndim == 2 else image
    low, high = limits
    shades = np.clip((image.astype(np.float64) - low) / (high - low), 0.0, 1.0)
    broken = ~np.isfinite(image)
    if image.shape[2] == 3:
        return np.where(broken.any(axis=2, keepdims=True), NOT_FINITE, shades)
    height, width = mosaic_shape(image.shape)
    columns = (width + 1) // (image.shape[1] + 1)
    mosaic = np.ones((height, width, 3))
    for channel in range(image.shape[2]):
        top, left = np.array(divmod(channel, columns)) * (np.array(image.shape[:2]) + 1)
        panel = np.where(broken[..., channel, None], NOT_FINITE, shades[..., channel, None])
        mosaic[top : top + image.shape[0], left : left + image.shape[1]] = panel
    return mosaic


def draw_images(axes, examples, boxes, limits, faint):
    """Draw images; a reference is not drawn again, as it would hide the image."""
    if faint:
        return
    from matplotlib.image import AxesImage

    for image, (left, bottom, width, height) in zip(examples, boxes, strict=True):
        extent = (left, left + width, bottom, bottom + height)
        cell = AxesImage(axes, extent=extent, origin="upper", interpolation="nearest")
        cell.set_data(as_rgb(image, limits))
        axes.add_image(cell)


def thinned(signal):
    """Return positions in [0, 1] and values of a line, without losing its extremes."""
    length = len(signal)
    if length <= LONGEST_LINE:
        return np.linspace(0.0, 1.0, length) if length > 1 else np.array([0.5]), signal
    edges = np.linspace(0, length, LONGEST_LINE // 2 + 1).astype(int)
    stretches = [slice(a, b) for a, b in pairwise(edges)]
    values = [extreme(signal[s]) for s in stretches for extreme in (np.min, np.max)]
    middles = np.repeat((edges[:-1] + edges[1:] - 1) / 2, 2)
    return middles / (length - 1), np.array(values)


def _to_box(x, y, box, limits):
    """Return points with x in [0, 1] and y in the limits as coordinates inside a box."""
    left, bottom, width, height = box
    scaled = (y - limits[0]) / (limits[1] - limits[0])
    return np.stack([left + width * x, bottom + height * (0.05 + 0.9 * scaled)], axis=1)


def line_colours(channels):
    """Return one colour a channel."""
    if channels == 1:
        return [BLUE]
    if channels <= len(CATEGORIES):
        return list(CATEGORIES[:channels])
    from matplotlib import colormaps

    return list(colormaps["viridis"](np.linspace(0, 0.95, channels)))


def channel_legend(figure, channels):
    """Name the channels' colours below the picture."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, label=f"channel {k}")
        for k, colour in enumerate(line_colours(channels))
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False)


def draw_lines(axes, examples, boxes, limits, faint):
    """Draw signals (length, channels) or long rows (features,) as lines."""
    from matplotlib.collections import LineCollection

    examples = examples.reshape(len(examples), examples.shape[1], -1).astype(np.float64)
    channels = examples.shape[2]
    lines = [
        _to_box(*thinned(example[:, k]), box, limits)
        for example, box in zip(examples, boxes, strict=True)
        for k in range(channels)
    ]
    style = (
        dict(colors=LIGHT_GREY, linewidths=2.5)
        if faint
        else dict(colors=line_colours(channels) * len(examples), linewidths=1.0)
    )
    axes.add_collection(LineCollection(lines, zorder=1 if faint else 2, **style))


def draw_bars(axes, examples, boxes, limits, faint):
    """Draw short rows (features,) as bars from zero; a reference is a dash at its height."""
    from matplotlib.collections import LineCollection, PolyCollection

    count = examples.shape[1]
    edges = (np.arange(count)[:, None] + [0.12, 0.88]) / count
    foot = min(max(0.0, limits[0]), limits[1])
    bars, dashes = [], []
    for example, box in zip(examples.astype(np.float64), boxes, strict=True):
        for (left, right), value in zip(edges, example, strict=True):
            top = _to_box(np.array([left, right]), np.array([value, value]), box, limits)
            base = _to_box(np.array([right, left]), np.array([foot, foot]), box, limits)
            dashes.append(top)
            bars.append(np.concatenate([top, base]))
    if faint:
        axes.add_collection(LineCollection(dashes, colors="black", linewidths=1.2, zorder=3))
    else:
        axes.add_collection(PolyCollection(bars, facecolors=BLUE, zorder=2))
