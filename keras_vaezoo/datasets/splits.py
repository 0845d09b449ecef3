"""Seeded parts of data sets that have no test split of their own."""


def part(dataset, split, test_fraction=None, seed=0):
    """The part of a whole data set that `split` names.

    Args:
        dataset: A `Dataset`.
        split: "all" (the whole set), "train" or "test".
        test_fraction: Share of the rows that make "test". None: "train" is the whole set.
        seed: Seed of the split.

    Raises:
        ValueError: If `split` is unknown, or "test" is asked for without a `test_fraction`.
    """
    if split not in ("all", "train", "test"):
        raise ValueError(
            f"'{dataset.name}' has the splits 'all', 'train' and 'test'. Received: split={split!r}"
        )
    if split == "all" or (split == "train" and test_fraction is None):
        return dataset
    if test_fraction is None:
        raise ValueError(
            f"'{dataset.name}' has no test split of its own, and 'train' is all of it. Give "
            "test_fraction=0.1 (and the same seed) to both calls, or use "
            "train, test = dataset.split(0.1, seed=0)."
        )
    return dataset.split(test_fraction, seed)[split == "test"]
