"""from_folder: sizes, modes, rotation, labels, and files that cannot be decoded."""

import warnings

import numpy as np
import pytest
from PIL import Image

from keras_vaezoo import datasets
from keras_vaezoo.datasets.pictures import Look


def save(path, array, mode=None, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.asarray(array), mode).save(path, **options)


def flat(value, height=6, width=6, channels=3):
    return np.full((height, width, channels), value, np.uint8)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "photos"


def test_files_are_sorted_and_the_others_ignored(folder):
    for name, value in (("b.png", 51), ("a/z.PNG", 102), ("c.jpeg", 153)):
        save(folder / name, flat(value))
    for name in (".hidden.png", "._b.png", "notes.txt", ".git/x.png", "b.png.part"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"not an image")
    data = datasets.from_folder(folder)
    assert data.images.shape == (3, 6, 6, 3) and data.images.dtype == np.float32
    np.testing.assert_allclose(data.images.mean((1, 2, 3)), [0.4, 0.2, 0.6], atol=0.003)
    assert data.name == "photos" and data.labels is None


def test_sub_folders_are_labels(folder):
    for name in ("cats/1.png", "cats/2.png", "dogs/old/1.png"):
        save(folder / name, flat(9))
    data = datasets.from_folder(folder)
    assert data.label_names == ("cats", "dogs") and data.labels.tolist() == [0, 0, 1]


def test_crop_keeps_the_middle_and_stretch_keeps_all(folder):
    # Three columns of bands: black, grey, black; four times as wide as high.
    picture = flat(0, 8, 32)
    picture[:, 12:20] = 200
    save(folder / "a.png", picture)
    cropped = datasets.from_folder(folder, size=(8, 8)).images[0]
    np.testing.assert_allclose(cropped, 200 / 255, atol=1e-6)
    stretched = datasets.from_folder(folder, size=(8, 8), fit="stretch").images[0]
    # The resampling kernel reaches over four columns to each side.
    np.testing.assert_allclose(stretched[:, 3:5], 0.875 * 200 / 255, atol=0.01)
    np.testing.assert_allclose(stretched[:, [0, 7]], 0, atol=0.01)
    middle = datasets.from_folder(folder, crop=(4, 6)).images
    assert middle.shape == (1, 4, 6, 3) and np.ptp(middle) == 0


def test_size_is_height_then_width(folder):
    save(folder / "a.png", flat(7, 30, 20))
    assert datasets.from_folder(folder, size=(15, 10)).shape == (15, 10, 3)
    assert datasets.from_folder(folder).shape == (30, 20, 3)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("size", [None, (4, 8)])
def test_exif_rotation_is_undone(folder, orientation, size):
    # A picture with its bright corner at the top left once it stands upright.
    upright = np.zeros((4, 8), np.uint8)
    upright[:2, :4] = 255
    turns = {1: 0, 3: 2, 6: 1, 8: 3, 2: 0, 4: 2, 5: 1, 7: 3}
    stored = np.rot90(upright, turns[orientation])
    if orientation in (2, 4):
        stored = stored[:, ::-1]
    if orientation in (5, 7):
        stored = stored[::-1]
    exif = Image.Exif()
    exif[0x0112] = orientation
    save(folder / "a.png", stored, exif=exif)
    for in_memory in (True, False):
        data = datasets.from_folder(folder, size=size, in_memory=in_memory)
        assert data.shape == (4, 8, 1)
        np.testing.assert_array_equal(data.images[0, ..., 0], upright / 255)


def test_modes_come_out_right(folder):
    grey = np.linspace(0, 255, 36).astype(np.uint8).reshape(6, 6)
    save(folder / "1_grey.png", grey)
    save(folder / "2_sixteen.png", grey.astype(np.uint16) * 257)
    save(folder / "3_bits.png", grey > 127)
    save(folder / "4_opaque.png", np.dstack([grey] * 3 + [np.full_like(grey, 255)]))
    palette = Image.fromarray(grey, "L").convert("P")
    palette.save(folder / "5_palette.png")
    clear = np.dstack([grey, np.zeros_like(grey)])
    save(folder / "6_clear.png", clear, "LA")
    save(folder / "7_half.png", np.dstack([np.zeros((6, 6, 3), np.uint8), np.full_like(grey, 51)]))
    Image.fromarray(np.dstack([255 - grey] * 3 + [0 * grey]), "CMYK").save(
        folder / "8_cmyk.jpg", quality=100
    )
    save(folder / "9_float.tif", grey.astype(np.float32) / 255)
    expected = grey / 255
    for channels in (1, 3):
        images = datasets.from_folder(folder, channels=channels).images
        assert images.shape == (9, 6, 6, channels)
        for place in (0, 1, 3, 4, 8):
            np.testing.assert_allclose(images[place, ..., 0], expected, atol=1e-6)
        np.testing.assert_array_equal(images[2, ..., 0], grey > 127)
        np.testing.assert_array_equal(images[5], 1)
        np.testing.assert_allclose(images[6], 0.8, atol=0.003)
        np.testing.assert_allclose(images[7, ..., 0], expected, atol=0.02)
    black = datasets.from_folder(folder, channels=3, background="black").images
    np.testing.assert_array_equal(black[5], 0)


def test_transparent_palettes_show_the_background(folder):
    folder.mkdir()
    picture = Image.new("P", (4, 4), 1)
    picture.putpalette([255, 0, 0, 0, 0, 255] + [0] * 762)
    picture.putpixel((0, 0), 0)
    picture.save(folder / "a.png", transparency=0)
    image = datasets.from_folder(folder).images[0]
    assert image[0, 0].tolist() == [1, 1, 1] and image[1, 1].tolist() == [0, 0, 1]


def test_channels_follow_the_files(folder):
    save(folder / "a.png", flat(9)[..., 0])
    assert datasets.from_folder(folder).shape == (6, 6, 1)
    save(folder / "b.png", flat(9))
    assert datasets.from_folder(folder).shape == (6, 6, 3)


def test_lazy_images_equal_those_in_memory(folder):
    rng = np.random.default_rng(0)
    for number in range(7):
        save(folder / f"{number}.png", rng.integers(256, size=(9, 9, 3), dtype=np.uint8))
    now = datasets.from_folder(folder, size=(6, 6), in_memory=True)
    later = datasets.from_folder(folder, size=(6, 6), in_memory=False)
    assert isinstance(now.images, np.ndarray) and not isinstance(later.images, np.ndarray)
    indices = [5, 0, 0, 3]
    np.testing.assert_array_equal(now.images[indices], later.images[indices])
    assert [path.name for path in later.images.paths] == [f"{n}.png" for n in range(7)]
    batch = next(iter(later.as_tf(4, shuffle=False)))
    np.testing.assert_array_equal(batch, now.images[:4])


def test_reduced_decoding_of_large_jpegs_changes_little(folder):
    """Against decoding at full size: the mean of blocks."""
    rows, columns = np.mgrid[0:512, 0:512] / 512
    smooth = np.stack([rows, columns, 0.5 + 0.5 * np.sin(9 * rows * columns)], axis=-1)
    save(folder / "a.jpg", (255 * smooth).astype(np.uint8), quality=95)
    image = datasets.from_folder(folder, size=(32, 32)).images[0]
    blocks = smooth.reshape(32, 16, 32, 16, 3).mean((1, 3))
    assert np.abs(image - blocks).mean() < 0.01


@pytest.fixture
def damaged(folder):
    for name in ("a.png", "b.png", "c.png", "d.jpg"):
        save(
            folder / name, np.random.default_rng(1).integers(256, size=(40, 40, 3), dtype=np.uint8)
        )
    # The header and part of the pixels are whole.
    whole = (folder / "b.png").read_bytes()
    (folder / "b.png").write_bytes(whole[: len(whole) // 2])
    (folder / "c.png").write_bytes(b"plain text")
    return folder


def test_files_that_cannot_be_decoded_are_named(damaged):
    with pytest.raises(ValueError, match=r"1 image file\(s\) .*: .*c.png.*'skip'"):
        datasets.from_folder(damaged)
    (damaged / "c.png").unlink()
    with pytest.raises(ValueError, match=r"1 image file\(s\) .*: .*b.png"):
        datasets.from_folder(damaged)
    later = datasets.from_folder(damaged, in_memory=False)
    with pytest.raises(ValueError, match=r"b.png"):
        later.images[[0, 1]]


@pytest.mark.parametrize("in_memory", [True, False])
def test_files_that_cannot_be_decoded_are_skipped(damaged, in_memory):
    with pytest.warns(UserWarning) as caught:
        data = datasets.from_folder(damaged, on_error="skip", in_memory=in_memory)
    text = " ".join(str(warning.message) for warning in caught)
    assert "c.png" in text and "b.png" in text and "a.png" not in text
    assert len(data) == 2 and data.images[:].shape == (2, 40, 40, 3)


def test_a_folder_without_any_whole_image(damaged):
    for name in ("a.png", "d.jpg"):
        (damaged / name).unlink()
    with pytest.warns(UserWarning), pytest.raises(ValueError, match="No image file in"):
        datasets.from_folder(damaged, on_error="skip")
    (damaged / "b.png").write_bytes(b"")
    with pytest.raises(ValueError, match="No image file in"):
        datasets.from_folder(damaged, on_error="skip")


def test_empty_and_missing_folders(folder):
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        datasets.from_folder(folder)
    folder.mkdir()
    (folder / ".a.png").touch()
    with pytest.raises(ValueError, match=r"holds no image file \(\.bmp, .*hidden files"):
        datasets.from_folder(folder)


def test_one_image_is_a_data_set_but_cannot_be_split(folder):
    save(folder / "a.png", flat(9))
    assert len(datasets.from_folder(folder)) == 1
    with pytest.raises(ValueError, match="1 examples cannot be split"):
        datasets.from_folder(folder, split="test", test_fraction=0.5)


def test_different_sizes_need_a_size(folder):
    save(folder / "a.png", flat(9))
    save(folder / "b.png", flat(9))
    save(folder / "odd.png", flat(9, 6, 7))
    with pytest.raises(ValueError, match=r"2 sizes: most are 6x6, .*odd.png is 6x7. Pass size"):
        datasets.from_folder(folder)
    with pytest.raises(ValueError, match=r"6x6 pixels is smaller than crop=\(7, 7\)"):
        datasets.from_folder(folder, crop=(7, 7))
    with pytest.warns(UserWarning, match=r"2 of the 3 images in .* are smaller than"):
        datasets.from_folder(folder, size=(6, 7))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        datasets.from_folder(folder, size=(6, 6))


def test_split_by_seed(folder):
    for number in range(10):
        save(folder / f"{number}.png", flat(number * 20))
    parts = [
        datasets.from_folder(folder, split=split, test_fraction=0.3, seed=5).images[:, 0, 0, 0]
        for split in ("train", "test")
    ]
    assert [len(part) for part in parts] == [7, 3]
    np.testing.assert_array_equal(
        np.unique(np.concatenate(parts)), datasets.from_folder(folder).images[:, 0, 0, 0]
    )


@pytest.mark.parametrize(
    "options, message",
    [
        ({"size": 64}, r"`size` must be \(height, width\).*size=64"),
        ({"size": (64, 0)}, r"size=\(64, 0\)"),
        ({"size": (64.0, 64)}, r"size=\(64.0, 64\)"),
        ({"channels": 4}, "channels=4"),
        ({"on_error": "ignore"}, "on_error='ignore'"),
        ({"fit": "pad"}, "crop, stretch.*fit='pad'"),
        ({"split": "val"}, "split='val'"),
        ({"value_range": (1, 0)}, "value_range"),
        ({"value_range": (0, np.inf)}, "two finite numbers"),
        ({"background": "nocolour"}, "nocolour"),
    ],
)
def test_wrong_arguments(folder, options, message):
    save(folder / "a.png", np.dstack([flat(9), flat(0)[..., :1]]))
    with pytest.raises(ValueError, match=message):
        datasets.from_folder(folder, **options)


def test_grey_numbers_out_of_range_are_refused():
    with pytest.raises(ValueError, match=r"values from 0 to 1.0. Received: 0.0 to 7.0"):
        Look(channels=1).apply(Image.fromarray(np.array([[0, 7]], np.float32)))
