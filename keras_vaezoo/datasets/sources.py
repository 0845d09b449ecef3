"""The first place that holds a named data set, or the ways to get it."""

from keras_vaezoo.datasets import tfds_sets


def first_found(name, data_dir, folders, from_files, from_tfds, ways):
    """What the first road to a data set gives.

    Args:
        name: Name of the data set.
        data_dir: The user's folder, or None. Files in it come before prepared sets in it;
            without it, prepared sets come before files that happen to be there.
        folders: Folders that `from_files` looks into.
        from_files: Function without arguments; None where there are no files.
        from_tfds: Function without arguments; None where the set is not prepared.
        ways: Sentences that say how to get the data, for the error.

    Raises:
        FileNotFoundError: If no road leads to the data.
    """
    roads = (from_files, from_tfds) if data_dir is not None else (from_tfds, from_files)
    for road in roads:
        found = road()
        if found is not None:
            return found
    looked_in = ", ".join(map(str, [*folders, tfds_sets.folder(data_dir)]))
    numbered = "\n".join(f"{number}. {way}" for number, way in enumerate(ways, start=1))
    raise FileNotFoundError(
        f"The data set '{name}' was not found. Looked in: {looked_in}.\n"
        f"Ways to get it:\n{numbered}\n"
        "load('sprites'), load('sine_waves') and load('digits') need no files."
    )


def download_way(name):
    """The way by download, in words."""
    return (
        f"load('{name}', download=True) fetches and prepares it with tensorflow_datasets; this "
        "needs a network."
    )


def prepared_way(name):
    """The way by a prepared folder, in words."""
    return (
        f"Copy a tensorflow_datasets folder in which '{name}' is prepared, and pass it as data_dir."
    )
