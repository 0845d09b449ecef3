"""Matching pairs of encoder and decoder by name: automatic ones and the papers' networks."""

import functools
import warnings
from collections.abc import Callable
from typing import NamedTuple

from keras_vaezoo.close_names import did_you_mean
from keras_vaezoo.networks import _gcvae
from keras_vaezoo.networks._arguments import (
    checked_counts,
    checked_input_shape,
    default_filters,
)
from keras_vaezoo.networks._conv import conv_decoder, conv_encoder
from keras_vaezoo.networks._mlp import mlp_decoder, mlp_encoder


def autoencoder(
    input_shape,
    latent_dim,
    architecture="auto",
    hidden=None,
    filters=None,
    initializer=None,
    parameters_per_value=1,
):
    """Build an encoder and a decoder that fit each other and the data.

    The decoder's output is exactly `input_shape` and holds raw parameters of p(x|z), such as
    Bernoulli logits. `architecture` is one of:

    - `"auto"`: `"mlp"` for a table, `"conv"` for a signal or an image.
    - `"mlp"`: `mlp_encoder` and its mirror image. `hidden=(400,)` on 784 inputs and 20 latent
      dimensions is the MLP whose negative log-likelihood on binarised MNIST is known as 89.9 nats.
    - `"conv"`: `conv_encoder` and its mirror image.
    - `"wise_ale_mnist"`: WiSE-ALE (Lin et al., 2019), appendix D.2. 4 x 4 convolutions of 16, 32
      and 64 filters, Dense 32 without an activation; decoder Dense 16 and 128. Works for any image.
    - `"wise_ale_sine"`: appendix D.1, for signals. Five convolutions with stride 2, one Dense
      layer; decoder a Dense layer, a convolution and four transposed ones with stride 4. Default,
      not known from the paper: kernels of 4, filters 16, 32, 64, 64, 128, Dense 32. The paper's
      ReLU on the output is left out, as sine waves have negative values.
    - `"wise_ale_celeba"`: appendix D.3, the network of Wasserstein auto-encoders (Tolstikhin et
      al., 2018). 5 x 5 kernels, 128, 256, 512 and 1024 filters; batch normalisation in the decoder
      alone, as printed. Made for 64 x 64 x 3, works for any image.
    - `"burgess"`: Burgess et al., "Understanding disentangling in beta-VAE" (2018), appendix A:
      four convolutions of 32 filters, 4 x 4, two Dense of 256, mirrored. Made for 64 x 64.
    - `"higgins"`: Higgins et al., "beta-VAE" (2017), table 1, 2DShapes (dSprites): Dense 1200 twice
      with ReLU; decoder Dense 1200 three times with tanh.
    - `"mu_vae"`: mu-VAE names only a CNN without dropout and batch normalisation. Default, not
      known from the paper: convolutions of 32 and 64 filters, 4 x 4, Dense 128, mirrored.
    - `"gcvae_dsprites"`, `"gcvae_mnist"`: the networks of GCVAE's authors' code (Ezukwoke et al.,
      2022): 3 x 3 convolutions with pooling and batch normalisation, Dense 200 and 25. They take
      images of 64 x 64 and 28 x 28 alone.

    WiSE-ALE's deviation head ends in ReLU in the paper, which can give a deviation of zero; every
    encoder here gives an unbounded log-variance instead.

    Args:
        input_shape: shape of one example without the batch axis, channels last: `(features,)`,
            `(length, channels)` or `(height, width, channels)`.
        latent_dim: number of latent dimensions, at least 1.
        architecture: one of the names above, listed by `architectures()`.
        hidden: for `"mlp"` and `"conv"`, the encoder's hidden Dense layers; the decoder's are
            the same in reverse. None is their default.
        filters: for `"conv"`, the encoder's filters; the decoder's are the same in reverse.
        initializer: initializer of every kernel. None is PyTorch's uniform distribution on
            +-1/sqrt(fan_in) for `"mlp"` and `"higgins"`, and He's normal for every network with
            convolutions: five epochs of `"wise_ale_mnist"` on MNIST give a negative ELBO of 155.4
            nats with He's normal, 157.4 with PyTorch's and 157.4 with Glorot's uniform (mean of
            two seeds). `mlp_encoder` and `conv_encoder` say what was measured on theirs.
        parameters_per_value: parameters of p(x|z) for each value of x. 2 doubles the decoder's
            last axis, for a Gaussian likelihood whose sigma the decoder gives.

    Returns:
        `(encoder, decoder)`, functional `keras.Model` objects of stock Keras layers. The encoder
        maps `(batch, *input_shape)` to `[mean, log_variance]`, each `(batch, latent_dim)`; the
        decoder maps `(batch, latent_dim)` to `(batch, *input_shape)`. All three ends are float32
        under every dtype policy.

    Raises:
        ValueError: for an unknown name, a shape of a rank that the architecture does not take, a
            count below 1, or `hidden` or `filters` for an architecture whose layers are fixed.

    Example:

    ```python
    encoder, decoder = keras_vaezoo.networks.autoencoder((28, 28, 1), latent_dim=10)
    model = keras_vaezoo.VAE(encoder, decoder)
    ```
    """
    if architecture not in architectures():
        raise ValueError(
            f"architecture must be one of {', '.join(architectures())}. "
            f"{did_you_mean(architecture, architectures())}Received: architecture={architecture!r}"
        )
    shape = checked_input_shape(input_shape)
    _warn_of_missing_channels(shape)
    ends = {"initializer": initializer, "parameters_per_value": parameters_per_value}
    if architecture == "auto":
        architecture = "mlp" if len(shape) == 1 else "conv"
    if architecture == "mlp":
        _refuse_fixed(architecture, filters=filters)
        return _mlp(shape, latent_dim, hidden, **ends)
    if architecture == "conv":
        return _conv(shape, latent_dim, hidden, filters, **ends)
    _refuse_fixed(architecture, filters=filters, hidden=hidden)
    paper = _PAPERS[architecture]
    checked_input_shape(shape, paper.ranks)
    return paper.build(shape, latent_dim, **ends)


def _warn_of_missing_channels(shape):
    if len(shape) == 2 and shape[1] > 4 and shape[0] < 4 * shape[1]:
        warnings.warn(
            f"input_shape={shape} is read as a signal of length {shape[0]} with {shape[1]} "
            f"channels. Grey images have the shape {(*shape, 1)}: images[..., None].",
            stacklevel=3,
        )


def architectures():
    """Return the names that `autoencoder` takes.

    Returns:
        A tuple of strings.

    Example:

    ```python
    "burgess" in keras_vaezoo.networks.architectures()  # True
    ```
    """
    return ("auto", "mlp", "conv", *_PAPERS)


def _refuse_fixed(architecture, **options):
    given = {name: value for name, value in options.items() if value is not None}
    if given:
        raise ValueError(
            f"The layers of architecture={architecture!r} are not set by {' or '.join(given)}; "
            'use architecture="conv" (or "mlp", which takes hidden). '
            f"Received: {', '.join(f'{name}={value!r}' for name, value in given.items())}"
        )


def _pair(encoder, decoder, input_shape, latent_dim, initializer, parameters_per_value):
    """Build both ends from factories that lack only what they share."""
    options = {} if initializer is None else {"initializer": initializer}
    return (
        encoder(input_shape, latent_dim, **options),
        decoder(input_shape, latent_dim, parameters_per_value=parameters_per_value, **options),
    )


def _mlp(input_shape, latent_dim, hidden, **ends):
    hidden = (400,) if hidden is None else checked_counts("hidden", hidden)
    return _pair(
        functools.partial(mlp_encoder, hidden=hidden),
        functools.partial(mlp_decoder, hidden=hidden[::-1]),
        input_shape,
        latent_dim,
        **ends,
    )


def _conv(input_shape, latent_dim, hidden, filters, **ends):
    input_shape = checked_input_shape(input_shape, ranks=(2, 3))
    hidden = (256,) if hidden is None else checked_counts("hidden", hidden)
    filters = (
        default_filters(input_shape) if filters is None else checked_counts("filters", filters)
    )
    return _pair(
        functools.partial(conv_encoder, filters=filters, hidden=hidden),
        functools.partial(conv_decoder, filters=filters[::-1], hidden=hidden[::-1]),
        input_shape,
        latent_dim,
        **ends,
    )


class _Paper(NamedTuple):
    build: Callable
    ranks: tuple = (3,)


def _paper(encoder, decoder, ranks=(3,)):
    return _Paper(functools.partial(_pair, encoder, decoder), ranks)


_PAPERS = {
    "burgess": _paper(
        functools.partial(conv_encoder, filters=(32,) * 4, hidden=(256, 256)),
        functools.partial(conv_decoder, filters=(32,) * 4, hidden=(256, 256)),
    ),
    "gcvae_dsprites": _Paper(functools.partial(_gcvae.gcvae_autoencoder, _gcvae.DSPRITES)),
    "gcvae_mnist": _Paper(functools.partial(_gcvae.gcvae_autoencoder, _gcvae.MNIST)),
    "higgins": _paper(
        functools.partial(mlp_encoder, hidden=(1200, 1200)),
        functools.partial(mlp_decoder, hidden=(1200, 1200, 1200), activation="tanh"),
    ),
    "mu_vae": _paper(
        functools.partial(conv_encoder, filters=(32, 64), hidden=(128,)),
        functools.partial(conv_decoder, filters=(64, 32), hidden=(128,)),
    ),
    "wise_ale_celeba": _paper(
        functools.partial(conv_encoder, filters=(128, 256, 512, 1024), kernel_size=5, hidden=()),
        functools.partial(
            conv_decoder,
            filters=(1024, 512, 256, 128),
            kernel_size=5,
            strides=(2, 2, 2, 1),
            hidden=(),
            batch_normalization=True,
        ),
    ),
    "wise_ale_mnist": _paper(
        functools.partial(
            conv_encoder, filters=(16, 32, 64), hidden=(32,), hidden_activation="linear"
        ),
        functools.partial(mlp_decoder, hidden=(16, 128), initializer="he_normal"),
    ),
    "wise_ale_sine": _paper(
        functools.partial(
            conv_encoder, filters=(16, 32, 64, 64, 128), hidden=(32,), hidden_activation="linear"
        ),
        functools.partial(
            conv_decoder, filters=(128, 64, 64, 32, 16), strides=(1, 4, 4, 4, 4), hidden=()
        ),
        ranks=(2,),
    ),
}
