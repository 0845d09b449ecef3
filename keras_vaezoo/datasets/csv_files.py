"""from_csv: tables and signals from text files."""

import csv
import itertools
from pathlib import Path

import numpy as np

from keras_vaezoo.datasets.dataset import Dataset
from keras_vaezoo.datasets.splits import part

_LARGEST = float(np.finfo(np.float32).max)


def from_csv(
    path,
    columns=None,
    label_column=None,
    kind="table",
    delimiter=",",
    header=None,
    split="train",
    test_fraction=None,
    seed=0,
):
    """Reads a table, or one signal a row, from a text file.

    Args:
        path: The file, in UTF-8.
        columns: Names, or numbers counted from 0, of the columns to use. None: all but the
            label column.
        label_column: Name or number of the column of class labels, which may be words. None:
            no labels.
        kind: "table": examples `(columns,)`; "signals": each row is a signal, examples
            `(columns, 1)`.
        delimiter: Character between cells.
        header: Whether the first line holds names. None: if a cell of it is no number, the
            label column aside where `label_column` is a number.
        split: "train", "test" or "all".
        test_fraction: Share of the rows that form "test". None: "train" has all of them.
        seed: Seed of the split.

    Returns:
        A `Dataset` of float32 rows as they are in the file; `value_range` is the smallest and
        the largest value.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If a cell is not a finite number, a line has too few or too many cells, or
            a column is unknown. The message names line and column.

    Example:

    ```python
    data = keras_vaezoo.datasets.from_csv("wine.csv", label_column="quality")
    ```
    """
    if kind not in ("table", "signals"):
        raise ValueError(f"`kind` must be 'table' or 'signals'. Received: kind={kind!r}")
    path = Path(path).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    with open(path, newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, delimiter=delimiter)
        lines = ((reader.line_num, cells) for cells in reader if cells)
        names, first = _names(path, lines, header, label_column)
        used, label = _chosen_columns(names, columns, label_column)
        values, labels = _read_rows(path, itertools.chain(first, lines), names, used, label)
    if not len(values):
        raise ValueError(f"The file {path} has no rows of data.")
    if kind == "signals":
        values = values[..., None]
    labels, label_names = _numbered(labels) if label is not None else (None, None)
    dataset = Dataset(
        values,
        path.stem,
        labels=labels,
        label_names=label_names,
        value_range=(float(values.min()), float(values.max())),
    )
    return part(dataset, split, test_fraction, seed)


def _names(path, lines, header, label_column):
    """Column names, and the first line again where it holds data."""
    line, cells = next(lines, (0, []))
    if not cells:
        raise ValueError(f"The file {path} is empty.")
    if header is None:
        values = list(cells)
        if isinstance(label_column, int) and -len(cells) <= label_column < len(cells):
            del values[label_column]  # words there may be classes
        header = not all(map(_is_number, values))
    if header:
        return [cell.strip() for cell in cells], []
    return [str(number) for number in range(len(cells))], [(line, cells)]


def _is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _number(cell):
    """The finite float32 that a cell holds, or None."""
    number = float(cell) if _is_number(cell) else np.inf
    return number if abs(number) <= _LARGEST else None


def _chosen_columns(names, columns, label_column):
    label = None if label_column is None else _number_of(label_column, names)
    if columns is None:
        used = [number for number in range(len(names)) if number != label]
    else:
        used = [_number_of(column, names) for column in columns]
    if not used:
        raise ValueError("No column of values is left. Choose `columns` besides the label column.")
    return used, label


def _number_of(column, names):
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, int) and -len(names) <= column < len(names):
        return column % len(names)
    raise ValueError(
        f"There is no column {column!r}. The {len(names)} columns: {', '.join(names[:20])}"
    )


def _read_rows(path, lines, names, used, label):
    rows, labels = [], []
    for line, cells in lines:
        if len(cells) != len(names):
            raise ValueError(
                f"Line {line} of {path} has {len(cells)} cells; the first line has {len(names)}."
            )
        row = [_number(cells[column]) for column in used]
        if None in row:
            raise ValueError(_bad_cell(path, line, cells, names, used[row.index(None)]))
        rows.append(np.array(row, np.float32))
        if label is not None:
            labels.append(cells[label].strip())
    return np.array(rows, np.float32), labels


def _bad_cell(path, line, cells, names, column):
    return (
        f"Line {line}, column '{names[column]}' (number {column}, from 0) of {path} must hold "
        f"a finite number. Received: {cells[column]!r}. Fill in or remove that row, or leave the "
        "column out with `columns`."
    )


def _numbered(labels):
    names, numbers = np.unique(labels, return_inverse=True)
    return numbers.astype(np.int64), tuple(names.tolist())
