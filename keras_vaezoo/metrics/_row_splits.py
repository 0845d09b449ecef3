"""Which rows train and which rows test."""

import numpy as np

from keras_vaezoo.metrics._inputs import check_integer, check_number

_SPLITS = ("stratified", "shuffled", "ordered", "all")
_BY_ROWS = "(train_rows, test_rows)"


def check_split(split, train_share):
    """`ValueError` unless the two describe a split."""
    check_number("train_share", train_share, above=True)
    if train_share >= 1:
        raise ValueError(
            "train_share must lie between 0 and 1; split='all' trains and tests on all rows. "
            f"Received: train_share={train_share}"
        )
    named = isinstance(split, str) and split in _SPLITS
    if not named and not (isinstance(split, tuple) and len(split) == 2):
        received = repr(split)
        if not isinstance(split, str):
            size = f" of {len(split)}" if isinstance(split, tuple) else ""
            received = f"a {type(split).__name__}{size}"
        raise ValueError(
            f"split must be one of {', '.join(map(repr, _SPLITS))}, or a pair {_BY_ROWS} of row "
            f"numbers, slices or masks. Received: split={received}"
        )


def split_settings(split, train_share):
    """What a score says about its split."""
    if isinstance(split, tuple):
        return {"split": _BY_ROWS}
    return {"split": split} | ({} if split == "all" else {"train_share": train_share})


def split_rows(labels, split, train_share, seed):
    """Returns (train_rows, test_rows), two arrays of row numbers.

    Args:
        labels: (n,) values of the factor at hand; "stratified" gives both parts the same shares.
        split: `"stratified"`: shuffle, then take the rows of each class in turn; `"shuffled"`;
            `"ordered"`: the first rows train, the rest test; `"all"`: all rows do both; or a tuple
            (train_rows, test_rows) of row numbers, slices or masks.
        train_share: Share of the rows that train, rounded up.
        seed: Seed of the shuffle.
    """
    rows = np.arange(len(labels))
    if isinstance(split, tuple):
        return _given_rows(split, rows)
    if split == "all":
        return rows, rows
    if split != "ordered":
        rows = np.random.default_rng(seed).permutation(rows)
    if split == "stratified":
        rows = rows[np.argsort(labels[rows], kind="stable")]
        # Every 1 / train_share-th row, so that each run of equal labels is shared out.
        ranks = np.ceil(np.arange(len(rows) + 1) * train_share)
        trains = np.diff(ranks) > 0
    else:
        trains = np.arange(len(rows)) < np.ceil(len(rows) * train_share)
    return _checked_parts(rows[trains], rows[~trains], split)


def draw_rows(n, max_rows, seed):
    """Row numbers of a random subset of at most max_rows rows, in their order."""
    if max_rows is None or max_rows >= n:
        return np.arange(n)
    check_integer("max_rows", max_rows, 2)
    return np.sort(np.random.default_rng(seed).choice(n, max_rows, replace=False))


def _given_rows(split, rows):
    try:
        train, test = (
            rows[part if isinstance(part, slice) or len(part) else slice(0)] for part in split
        )
    except (IndexError, TypeError) as error:
        raise ValueError(
            f"split must hold rows out of 0 to {len(rows) - 1}, or masks of {len(rows)} rows. "
            f"Received: {error}"
        ) from error
    return _checked_parts(train, test, _BY_ROWS)


def _checked_parts(train, test, split):
    if not len(train) or not len(test):
        raise ValueError(
            "Both parts of the split need rows; give more rows, another train_share, or "
            f"split='all'. Received: split={split!r} with {len(train)} training and {len(test)} "
            "test rows"
        )
    return train, test
