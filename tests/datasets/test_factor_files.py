"""dsprites, shapes3d and celeb_a from files of the user."""

import h5py
import numpy as np
import pytest
from PIL import Image

from keras_vaezoo import datasets
from keras_vaezoo.datasets import dsprites, shapes3d
from keras_vaezoo.datasets.dsprites import FACTOR_SIZES

ROWS = np.array([(1, 2, 3, 4, 5), (0, 1, 2, 3, 4), (2, 5, 39, 31, 31)])


def sprites():
    pixels = np.zeros((3, 64, 64), np.uint8)
    for number in range(3):
        pixels[number, number, : number + 1] = 1
    return pixels


def classes():
    return np.concatenate([np.zeros((3, 1), int), ROWS], axis=1)


@pytest.fixture(params=["hdf5", "npz"])
def dsprites_file(request, tmp_path):
    path = tmp_path / f"{dsprites._STEM}.{request.param}"
    if request.param == "hdf5":
        with h5py.File(path, "w") as file:
            file["imgs"], file["latents/classes"] = sprites(), classes()
    else:
        np.savez_compressed(
            path,
            imgs=sprites(),
            latents_classes=classes(),
            metadata=np.array({"a": 1}, dtype=object),
        )
    return path


@pytest.mark.parametrize("by", ["path", "data_dir"])
def test_dsprites_files_are_sorted_into_the_grid(dsprites_file, by):
    place = dsprites_file if by == "path" else dsprites_file.parent
    data = datasets.load("dsprites", verify=False, **{by: place})
    order = [1, 0, 2]
    np.testing.assert_array_equal(data.factors, ROWS[order])
    np.testing.assert_array_equal(data.images[:, :, :, 0], sprites()[order])
    assert data.factor_names == datasets.load("sprites").factor_names
    assert data.factor_sizes == FACTOR_SIZES and not data.is_grid


def test_a_whole_grid_is_recognised(monkeypatch, tmp_path):
    sizes = (2, 1, 2, 1, 2)
    monkeypatch.setattr(dsprites, "FACTOR_SIZES", sizes)
    rows = np.stack(np.unravel_index(np.arange(8), sizes), axis=1)
    path = tmp_path / "d.npz"
    pixels = np.eye(64, dtype=np.uint8)[None].repeat(8, 0)
    pixels[np.arange(8), 0] = 0
    pixels[np.arange(8), 0, np.arange(8)] = 1
    shuffled = np.array([3, 1, 7, 0, 2, 6, 5, 4])
    np.savez(path, imgs=pixels[shuffled], latents_classes=rows[shuffled])
    data = datasets.load("dsprites", path=path, verify=False)
    assert data.is_grid
    np.testing.assert_array_equal(data.images[:, :, :, 0], pixels)
    np.testing.assert_array_equal(data.index_of(rows), np.arange(8))


def test_other_bytes_are_refused(dsprites_file):
    message = (
        r"partly there: .* of 28,024,106 bytes"
        if dsprites_file.suffix == ".hdf5"
        else ("should have md5 7da33b31b13a06f4b04a70402ce90c2e")
    )
    with pytest.raises(ValueError, match=message):
        datasets.load("dsprites", path=dsprites_file)
    with open(dsprites_file, "ab") as file:
        file.truncate(28_024_106)
    with pytest.raises(ValueError, match=r"damaged or another file.*verify=False"):
        datasets.load("dsprites", path=dsprites_file)


def test_wrong_dsprites_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*none.hdf5"):
        datasets.load("dsprites", path=tmp_path / "none.hdf5")
    (tmp_path / "x.zip").touch()
    with pytest.raises(ValueError, match=r"\.hdf5 or \.npz.*x\.zip"):
        datasets.load("dsprites", path=tmp_path / "x.zip")
    with h5py.File(tmp_path / "x.hdf5", "w") as file:
        file["pictures"] = sprites()
    with pytest.raises(ValueError, match=r"no data set 'imgs'. It has: pictures"):
        datasets.load("dsprites", path=tmp_path / "x.hdf5", verify=False)
    np.savez(tmp_path / "x.npz", imgs=sprites())
    with pytest.raises(ValueError, match=r"no array 'latents_classes'. It has: imgs"):
        datasets.load("dsprites", path=tmp_path / "x.npz", verify=False)
    (tmp_path / "cut.npz").write_bytes(b"PK\3\4 half")
    with pytest.raises(ValueError, match=r"not a whole .npz file"):
        datasets.load("dsprites", path=tmp_path / "cut.npz", verify=False)
    wrong = classes()
    wrong[0, 1] = 3
    np.savez(tmp_path / "y.npz", imgs=sprites(), latents_classes=wrong)
    with pytest.raises(ValueError, match=r"between 0 and \[2, 5, 39, 31, 31\]"):
        datasets.load("dsprites", path=tmp_path / "y.npz", verify=False)


def test_shapes3d_file(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = np.array([[9, 0, 3, 7, 3, 14], [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0]])
    pixels = rng.integers(256, size=(3, 64, 64, 3), dtype=np.uint8)
    values = np.stack(
        [shapes3d.FACTOR_VALUES[j][rows[:, j]] for j in range(6)], axis=1
    ) + rng.normal(scale=1e-6, size=(3, 6))
    path = tmp_path / "3dshapes.h5"
    with h5py.File(path, "w") as file:
        file["images"], file["labels"] = pixels, values
    data = datasets.load("shapes3d", data_dir=tmp_path, verify=False)
    np.testing.assert_array_equal(data.factors, rows[::-1])
    np.testing.assert_allclose(data.images[:], pixels[::-1] / 255, atol=1e-6)
    assert data.factor_sizes == (10, 10, 10, 8, 4, 15)
    with pytest.raises(ValueError, match=r"partly there: .* of 267,573,662 bytes"):
        datasets.load("shapes3d", path=path)
    with h5py.File(tmp_path / "small.h5", "w") as file:
        file["images"], file["labels"] = pixels[:, :32], values
    with pytest.raises(ValueError, match=r"\(3, 32, 64, 3\) and \(3, 6\)"):
        datasets.load("shapes3d", path=tmp_path / "small.h5", verify=False)


@pytest.fixture
def celeb_a_folder(tmp_path):
    folder = tmp_path / "celeb_a" / "img_align_celeba"
    folder.mkdir(parents=True)
    lines = ["4", "Bald Smiling"]
    for number, value in ((2, 0), (162_770, 80), (162_771, 160), (182_638, 240)):
        picture = np.full((218, 178, 3), 255 - value, np.uint8)
        picture[39:179, 19:159] = value
        Image.fromarray(picture).save(folder / f"{number:06d}.jpg", quality=98)
        lines.append(f"{number:06d}.jpg  -1  {1 if value else -1}")
    (tmp_path / "celeb_a" / "list_attr_celeba.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_celeb_a_folder(celeb_a_folder):
    for split, values in (("train", [0, 80]), ("validation", [160]), ("test", [240])):
        data = datasets.load("celeb_a", split=split, data_dir=celeb_a_folder)
        assert data.images.shape == (len(values), 64, 64, 3)
        np.testing.assert_allclose(
            data.images[:, 2:-2, 2:-2].mean((1, 2, 3)) * 255, values, atol=1.5
        )
        assert data.factor_names == ("Bald", "Smiling") and data.factor_sizes == (2, 2)
        assert data.factors.tolist() == [[0, int(value > 0)] for value in values]
    small = datasets.load("celeb_a", data_dir=celeb_a_folder / "celeb_a", crop=100, size=(32, 32))
    assert small.shape == (32, 32, 3)


def test_celeb_a_without_or_with_broken_attributes(celeb_a_folder):
    attributes = celeb_a_folder / "celeb_a" / "list_attr_celeba.txt"
    text = attributes.read_text()
    attributes.write_text(text.replace("-1  1", "-1"))
    with pytest.raises(ValueError, match=r"Line 4 of .* 2 values of -1 or 1"):
        datasets.load("celeb_a", data_dir=celeb_a_folder)
    attributes.write_text("\n".join(text.splitlines()[:3]))
    with pytest.raises(ValueError, match=r"lacks the attributes of 162770.jpg"):
        datasets.load("celeb_a", data_dir=celeb_a_folder)
    attributes.unlink()
    assert datasets.load("celeb_a", data_dir=celeb_a_folder).factors is None
    with pytest.raises(ValueError, match="'train', 'validation', 'test'"):
        datasets.load("celeb_a", split="all", data_dir=celeb_a_folder)
    (celeb_a_folder / "celeb_a" / "img_align_celeba" / "182638.jpg").unlink()
    with pytest.raises(ValueError, match=r"none of the split 'test'.*182638.jpg"):
        datasets.load("celeb_a", split="test", data_dir=celeb_a_folder)
