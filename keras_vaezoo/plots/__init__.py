"""Pictures of a variational autoencoder and of its training.

Every function returns a ``matplotlib.figure.Figure`` and leaves pyplot's state alone, so it works
without a display; ``figure.savefig("name.png")`` writes the file. A notebook shows a returned
figure once ``matplotlib.pyplot`` has been imported.

The model may be anything with ``encode(x) -> (mean, log_variance)``, ``decode(z)``,
``reconstruct(x)``, ``sample(n, seed)`` and ``latent_dim``.

Examples are drawn by their shape (or by the shape given as ``shape=``):

* ``(height, width, channels)`` is an image: 1 channel is grey, 3 are red, green and blue. With
  any other number every channel is a grey panel of its own, row by row. (Four channels are not
  taken for transparency: for RGBA data pass the first three.)
* ``(length, channels)`` is a signal: one line a channel. With more than 4 channels and a length
  below 4 times the channels (8 x 8 or 28 x 28) it is a grey image.
* ``(features,)`` is a row of a table: bars up to 32 features, a line above.

Images within [0, 1] are shown as they are. Others are scaled as a whole and the caption states
the range; ``value_range=(low, high)`` sets it. Values that are not finite are orange in images
and gaps in lines.
"""

from keras_vaezoo.plots.aggregate_example import two_posteriors
from keras_vaezoo.plots.curves import controllers, history
from keras_vaezoo.plots.ellipses import embedding, embedding_comparison
from keras_vaezoo.plots.information import kl_per_dimension, rate_distortion
from keras_vaezoo.plots.latent_walks import manifold, traversals
from keras_vaezoo.plots.pictures import (
    overview,
    overview_comparison,
    reconstructions,
    samples,
)

__all__ = [
    "controllers",
    "embedding",
    "embedding_comparison",
    "history",
    "kl_per_dimension",
    "manifold",
    "overview",
    "overview_comparison",
    "rate_distortion",
    "reconstructions",
    "samples",
    "traversals",
    "two_posteriors",
]
