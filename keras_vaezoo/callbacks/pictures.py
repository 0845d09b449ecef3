"""Pictures of a model while it trains: PNG files, and images in TensorBoard."""

import inspect
import io
import pathlib

import numpy as np

from keras_vaezoo import checks, plots
from keras_vaezoo.callbacks._fixed_images import EveryEpochs
from keras_vaezoo.evaluation._examples import examples_of

_MOST = 1000


class EpochPictures(EveryEpochs):
    """Base of the callbacks that draw the model every few epochs.

    Writes `<directory>/<name>_<epoch>.png`, the epoch counted from 1 with four digits, so that
    the files sort in time. The model's run is the same bit for bit with and without. The
    picture is drawn once, and thrown away, before the first step: a bad setting shows at once.
    No picture is made of a model that has diverged.

    Subclassing: set `draw`, a function `(model, images, **drawing)` that returns a matplotlib
    Figure, and `name`.

    Args:
        data: Array of images `(n, *input_shape)`, a tuple (images, labels), or a
            `datasets.Dataset`; the first 1,000 are kept.
        directory: Folder for the PNG files; made where it is missing.
        every: Epochs between two pictures. Default 1: one after each.
        tensorboard: Folder of TensorBoard's logs, for images there as well (needs tensorflow
            and tensorboard on every backend). Default `None`: PNG files alone.
        dpi: Pixels an inch of the pictures. Default 100.
        **drawing: Arguments of `draw`.

    Raises:
        ValueError: For an argument that `draw` lacks; when training begins, for images of
            another shape or range than the model's, or a directory that is a file.
    """

    draw = None
    name = None

    def __init__(self, data, directory, every=1, tensorboard=None, dpi=100, **drawing):
        super().__init__(np.asarray(examples_of(data).images[:_MOST]), every)
        checks.check_positive_integer("dpi", dpi)
        known = list(inspect.signature(self.draw).parameters)[2:]
        unknown = sorted(set(drawing) - set(known))
        if unknown:
            raise ValueError(
                f"{type(self).__name__} takes, for the drawing, {', '.join(known)}. "
                f"Received: {unknown[0]}={drawing[unknown[0]]!r}"
            )
        self.directory, self.tensorboard, self.dpi = pathlib.Path(directory), tensorboard, dpi
        self.drawing = drawing
        self._writer = None

    def try_out(self):
        if self.directory.exists() and not self.directory.is_dir():
            raise ValueError(f"directory must be a folder. Received: directory={self.directory}")
        self._png()
        self.directory.mkdir(parents=True, exist_ok=True)
        if self.tensorboard is not None:
            self._writer = _summary_writer(self.tensorboard)

    def look(self, epoch):
        png = self._png()
        (self.directory / f"{self.name}_{epoch + 1:04d}.png").write_bytes(png)
        if self._writer is not None:
            _write_image(self._writer, self.name, png, epoch)

    def on_train_end(self, logs=None):
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _png(self):
        buffer = io.BytesIO()
        figure = self.draw(self.model, self.images, **self.drawing)
        figure.savefig(buffer, format="png", dpi=self.dpi)
        return buffer.getvalue()


class ReconstructionImages(EpochPictures):
    """Draws originals and their reconstructions every few epochs.

    `plots.reconstructions` to `<directory>/reconstructions_0001.png` and so on, and to
    TensorBoard's images under "reconstructions" where its folder is given.

    Args:
        data: Array of images `(n, *input_shape)`, a tuple (images, labels), or a
            `datasets.Dataset`.
        directory: Folder for the PNG files; made where it is missing.
        every: Epochs between two pictures. Default 1: one after each.
        tensorboard: Folder of TensorBoard's logs. Default `None`: PNG files alone.
        dpi: Pixels an inch of the pictures. Default 100.
        **drawing: `n` (number of images, the first ones; default 10), `shape` and
            `value_range`, as for `plots.reconstructions`.

    Raises:
        ValueError: As for `EpochPictures`.

    Example:

    ```python
    pictures = keras_vaezoo.callbacks.ReconstructionImages(test, "runs/pictures", every=5, n=20)
    model.fit(images, epochs=50, callbacks=[pictures])
    ```
    """

    draw = staticmethod(plots.reconstructions)
    name = "reconstructions"


class TraversalImages(EpochPictures):
    """Draws what each latent dimension changes every few epochs.

    `plots.traversals` to `<directory>/traversals_0001.png` and so on, and to TensorBoard's
    images under "traversals" where its folder is given.

    Args:
        data: Some hundred images: range and order of the walks come from all of them.
        directory: Folder for the PNG files; made where it is missing.
        every: Epochs between two pictures. Default 1: one after each.
        tensorboard: Folder of TensorBoard's logs. Default `None`: PNG files alone.
        dpi: Pixels an inch of the pictures. Default 100.
        **drawing: `dimensions` (fix them to see the same rows in every picture), `steps`,
            `limit`, `base`, `n`, `shape` and `value_range`, as for `plots.traversals`.

    Raises:
        ValueError: As for `EpochPictures`.

    Example:

    ```python
    pictures = keras_vaezoo.callbacks.TraversalImages(
        test[:500], "runs/pictures", every=5, tensorboard="runs/tensorboard", dimensions=range(10)
    )
    model.fit(images, epochs=50, callbacks=[pictures])
    ```
    """

    draw = staticmethod(plots.traversals)
    name = "traversals"


def _summary_writer(directory):
    try:
        from tensorflow import summary

        summary.image  # noqa: B018 - missing without the tensorboard package
    except (ImportError, AttributeError) as error:
        raise ImportError(
            "Images in TensorBoard need tensorflow and tensorboard: pip install tensorflow "
            "tensorboard, or leave tensorboard=None."
        ) from error
    return summary.create_file_writer(str(directory))


def _write_image(writer, name, png, epoch):
    import tensorflow as tf

    with writer.as_default(step=epoch):
        tf.summary.image(name, tf.io.decode_png(png)[None])
    writer.flush()
