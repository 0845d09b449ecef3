"""Pictures of any size and mode, brought to one size and to grey or colour."""

import struct
import zlib

import numpy as np
from PIL import Image, ImageOps

GREY_MODES = ("1", "L", "LA", "La", "I", "I;16", "I;16B", "I;16L", "F")
FITS = ("crop", "stretch")

# What Pillow raises for a file that it cannot decode.
DECODING_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
)

_QUARTER_TURNS = (5, 6, 7, 8)
_ORIENTATION_TAG = 0x0112


class Look:
    """How pictures are to come out.

    Args:
        size: `(height, width)` in pixels, or None to leave the size.
        channels: 1 for grey, 3 for colour.
        crop: `(height, width)` that is cut from the middle before resizing, or None.
        fit: "crop" cuts the middle part that has the proportions of `size` and resizes it;
            "stretch" resizes the whole picture and changes its proportions.
        background: Colour behind transparent pixels, as Pillow names colours.
    """

    def __init__(self, size=None, channels=3, crop=None, fit="crop", background="white"):
        self.size = check_size("size", size)
        self.crop = check_size("crop", crop)
        if channels not in (1, 3):
            raise ValueError(
                f"`channels` must be 1 (grey) or 3 (colour). Received: channels={channels!r}"
            )
        if fit not in FITS:
            raise ValueError(f"`fit` must be one of {', '.join(FITS)}. Received: fit={fit!r}")
        self.channels = channels
        self.fit = fit
        self.background = background

    def load(self, path):
        """uint8 array `(height, width, channels)` of an image file."""
        with Image.open(path) as picture:
            if self.size is not None and self.crop is None:
                picture.draft(None, self._draft_size(picture))
            if picture.format != "JPEG" or "exif" in picture.info or "xmp" in picture.info:
                ImageOps.exif_transpose(picture, in_place=True)
            return self.apply(picture)

    def apply(self, picture):
        """uint8 array `(height, width, channels)` of a Pillow image."""
        picture = _plain(picture, self.background, "L" if self.channels == 1 else "RGB")
        if self.crop is not None:
            picture = _crop_middle(picture, *self.crop)
        if self.size is not None and picture.size != self.size[::-1]:
            picture = self._resize(picture)
        # Half the time of np.asarray(picture), and writable is not needed.
        pixels = np.frombuffer(picture.tobytes(), np.uint8)
        return pixels.reshape(picture.height, picture.width, self.channels)

    def _resize(self, picture):
        size = self.size[::-1]
        if self.fit == "crop":
            return ImageOps.fit(picture, size, Image.Resampling.BILINEAR)
        return picture.resize(size, Image.Resampling.BILINEAR)

    def _draft_size(self, picture):
        # A JPEG is decoded at a half, a quarter or an eighth of its size where that is still no
        # smaller than this. The sides may yet be swapped by the EXIF orientation.
        side, shorter = max(self.size), min(picture.size)
        return tuple(-(-side * length // shorter) for length in picture.size)


def check_size(what, size):
    """Returns `(height, width)` as two ints, or None for None, or raises a ValueError."""
    if size is None:
        return None
    try:
        height, width = size
    except TypeError:
        height = width = 0
    except ValueError:
        height = width = 0
    if not all(isinstance(side, (int, np.integer)) and side >= 1 for side in (height, width)):
        raise ValueError(
            f"`{what}` must be (height, width) in pixels, both at least 1. "
            f"Received: {what}={size!r}"
        )
    return int(height), int(width)


def header_of(path):
    """`(height, width, is_grey)` of an image file after EXIF rotation, without decoding it."""
    with Image.open(path) as picture:
        width, height = picture.size
        # Pillow would decode a whole PNG in search of EXIF data behind its pixels.
        has_exif = picture.format != "PNG" or "exif" in picture.info
        if has_exif and picture.getexif().get(_ORIENTATION_TAG) in _QUARTER_TURNS:
            width, height = height, width
        return height, width, picture.mode in GREY_MODES


def _plain(picture, background, mode):
    """Grey or colour of 8 bits, without palette or transparency."""
    if picture.mode in ("I", "I;16", "I;16B", "I;16L", "F"):
        picture = _eight_bits(picture)
    if picture.has_transparency_data:
        colour = picture.convert("RGBA")
        behind = Image.new("RGBA", picture.size, background)
        picture = Image.alpha_composite(behind, colour)
    if picture.mode in ("P", "PA") and mode == "L":
        picture = picture.convert("RGB")
    return picture if picture.mode == mode else picture.convert(mode)


def _eight_bits(picture):
    """Grey of 8 bits from 16-bit whole numbers, or from numbers between 0 and 1."""
    values = np.asarray(picture)
    whole = values.dtype.kind in "iu"
    top = 65535 if whole else 1.0
    if values.min() < 0 or values.max() > top:
        raise ValueError(
            f"a grey image of mode {picture.mode} must hold values from 0 to {top}. "
            f"Received: {values.min()} to {values.max()}"
        )
    return Image.fromarray(np.rint(values * (255.0 / top)).astype(np.uint8))


def _crop_middle(picture, height, width):
    if height > picture.height or width > picture.width:
        raise ValueError(
            f"the picture of {picture.height}x{picture.width} pixels is smaller than "
            f"crop=({height}, {width})"
        )
    left = (picture.width - width) // 2
    top = (picture.height - height) // 2
    return picture.crop((left, top, left + width, top + height))
