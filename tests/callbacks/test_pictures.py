"""Pictures while a model trains: files, TensorBoard, and a run that is left alone."""

import io

import numpy as np
import pytest
from PIL import Image

import keras_vaezoo
from keras_vaezoo import plots
from keras_vaezoo.callbacks import ReconstructionImages, TraversalImages
from tests.callbacks.small_runs import IMAGES, Steps, alone, everything, trained, with_lost_weights
from tests.models.methods import build


def pixels(source):
    return np.asarray(Image.open(source))


def drawn(figure, dpi):
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return pixels(buffer)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    callbacks = [
        ReconstructionImages(IMAGES, folder / "new" / "folder", every=2, dpi=50, n=3),
        TraversalImages(
            (IMAGES, np.zeros(64)),
            folder,
            every=3,
            tensorboard=folder / "tensorboard",
            dpi=40,
            dimensions=[2, 0],
            steps=3,
        ),
    ]
    model, history = trained(callbacks)
    return model, history, folder


def names(folder):
    return sorted(path.name for path in folder.glob("*.png"))


def test_every_few_epochs_there_is_a_file(run):
    folder = run[2]
    expected = ["reconstructions_0002.png", "reconstructions_0004.png"]
    assert names(folder / "new" / "folder") == expected
    assert names(folder) == ["traversals_0003.png"]


def test_the_last_file_shows_the_trained_model(run):
    model, _, folder = run
    first, last = (folder / "new" / "folder" / f"reconstructions_000{k}.png" for k in (2, 4))
    assert np.array_equal(pixels(last), drawn(plots.reconstructions(model, IMAGES, n=3), 50))
    assert not np.array_equal(pixels(first), pixels(last))


def test_traversals_take_their_drawing_arguments(tmp_path):
    model = build("VAE")
    callback = TraversalImages(IMAGES, tmp_path, dpi=40, dimensions=[1], steps=4, base=2)
    callback.set_model(model)
    callback.on_train_begin()
    assert names(tmp_path) == []
    callback.on_epoch_end(11)
    figure = plots.traversals(model, IMAGES, dimensions=[1], steps=4, base=2)
    assert np.array_equal(pixels(tmp_path / "traversals_0012.png"), drawn(figure, 40))


def test_tensorboard_gets_the_same_picture(run):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray

    folder = run[2]
    events = EventAccumulator(str(folder / "tensorboard"), size_guidance={"tensors": 0}).Reload()
    (event,) = events.Tensors("traversals")
    assert event.step == 2
    width, height, png = make_ndarray(event.tensor_proto)
    picture = pixels(folder / "traversals_0003.png")
    assert (int(height), int(width)) == picture.shape[:2]
    assert np.array_equal(pixels(io.BytesIO(png)), picture)


def test_the_run_is_the_same_bit_for_bit_with_and_without(run):
    model, history, _ = run
    assert (everything(model), history) == alone()


def test_the_first_images_of_a_data_set_are_kept(tmp_path):
    sprites = keras_vaezoo.datasets.load("sprites").sample(1200, seed=0)
    callback = ReconstructionImages(sprites, tmp_path)
    assert np.array_equal(callback.images, sprites.images[:1000])


@pytest.mark.parametrize("kind", [ReconstructionImages, TraversalImages])
def test_there_is_no_picture_of_a_model_that_diverged(kind, tmp_path):
    with_lost_weights(kind(IMAGES, tmp_path), build("VAE"))
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"colour": "red"}, "n, shape, value_range. Received: colour='red'"),
        ({"every": 0}, "every=0"),
        ({"dpi": 0}, "dpi=0"),
        ({"data": "digits"}, "Received: str"),
    ],
)
def test_bad_arguments_are_named(arguments, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        ReconstructionImages(**{"data": IMAGES, "directory": tmp_path, **arguments})


@pytest.mark.parametrize(
    ("data", "drawing", "words"),
    [
        (np.zeros((9, 4, 4, 1), "float32"), {}, "4, 4, 1"),
        (2.0 * IMAGES, {}, r"\[0, 1\]"),
        (IMAGES, {"base": 99}, "base=99"),
        (IMAGES, {"dimensions": [7]}, r"dimensions=\[7\]"),
    ],
)
def test_what_cannot_be_drawn_is_named_before_the_first_step(data, drawing, words, tmp_path):
    steps = Steps()
    with pytest.raises(ValueError, match=words):
        trained([steps, TraversalImages(data, tmp_path, **drawing)], epochs=1)
    assert steps.done == 0


def test_a_directory_that_is_a_file_is_named(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    callback = ReconstructionImages(IMAGES, path)
    callback.set_model(build("VAE"))
    with pytest.raises(ValueError, match="file"):
        callback.on_train_begin()
