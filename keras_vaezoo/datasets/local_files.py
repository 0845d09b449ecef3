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


def find_file(names, folders, path=None):
    """The user's `path`, or the first existing file of `names` in `folders`, or None.

    Raises:
        FileNotFoundError: If `path` is given and is not a file.
    """
    if path is not None:
        path = Path(path).expanduser()
        if not path.is_file():
            raise FileNotFoundError(f"There is no file {path}. Received: path={str(path)!r}")
        return path
    for folder in folders:
        for name in names:
            if (folder / name).is_file():
                return folder / name
    return None


def check_file(path, algorithm, digest, size=None):
    """Raises a ValueError unless the file has this checksum, and this many bytes."""
    found = path.stat().st_size
    if size is not None and found < size:
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
