"""Where the files of a data set may lie, and whether they are whole."""

import hashlib
import os
from pathlib import Path

DATA_VARIABLE = "KERAS_VAEZOO_DATA"


def folders_of(name, data_dir=None, system_folders=()):
    """Folders in which the files of the data set `name` are looked for, best first.

    Args:
        name: Name of the data set.
        data_dir: Folder that the user names; then only it and its sub-folder `name` count.
        system_folders: Folders of installed packages, used without `data_dir`.

    Returns:
        List of `pathlib.Path`; without `data_dir` it begins with the sub-folder `name` of the
        folder that the environment variable KERAS_VAEZOO_DATA names.
    """
    if data_dir is not None:
        folder = Path(data_dir).expanduser()
        return [folder, folder / name]
    home = os.environ.get(DATA_VARIABLE)
    own = [Path(home).expanduser() / name] if home else []
    return own + [Path(folder) for folder in system_folders]


def find_file(names, folders):
    """The first existing file of `names` in `folders`, or None."""
    for folder in folders:
        for name in names:
            if (folder / name).is_file():
                return folder / name
    return None


def check_file(path, size, digest, algorithm="sha256"):
    """Raises a ValueError unless the file has this many bytes and this checksum."""
    found = path.stat().st_size
    if found < size:
        raise ValueError(
            f"The file {path} is only partly there: {found:,} of {size:,} bytes. Get it again."
        )
    with open(path, "rb") as file:
        received = hashlib.file_digest(file, algorithm).hexdigest()
    if received != digest:
        raise ValueError(
            f"The file {path} is damaged or another file: it should have {algorithm} {digest}. "
            f"Received: {received}. Get it again, or pass verify=False to use it as it is."
        )
