"""from_csv: tables, signals, labels, and cells that are no numbers."""

import numpy as np
import pytest

from keras_vaezoo import datasets


@pytest.fixture
def write(tmp_path):
    def write_text(text, encoding="utf-8"):
        path = tmp_path / "table.csv"
        path.write_text(text, encoding=encoding)
        return path

    return write_text


def test_a_table_with_names_and_labels(write):
    path = write('length,"width, mm",kind\n1.5,2,cat\n-3e1,4,dog\n 5 ,6,cat\n')
    data = datasets.from_csv(path, label_column="kind")
    assert data.images.dtype == np.float32 and data.shape == (2,)
    np.testing.assert_array_equal(data.images, [[1.5, 2], [-30, 4], [5, 6]])
    assert data.labels.tolist() == [0, 1, 0] and data.label_names == ("cat", "dog")
    assert data.value_range == (-30.0, 6.0) and data.name == "table"
    one = datasets.from_csv(path, columns=["width, mm"])
    np.testing.assert_array_equal(one.images, [[2], [4], [6]])
    assert one.labels is None


def test_signals_without_names(write):
    path = write("1;2;3\n4;5;6\n\n")
    data = datasets.from_csv(path, kind="signals", delimiter=";")
    np.testing.assert_array_equal(data.images, [[[1], [2], [3]], [[4], [5], [6]]])
    picked = datasets.from_csv(path, columns=[2, 0], label_column=-2, delimiter=";")
    np.testing.assert_array_equal(picked.images, [[3, 1], [6, 4]])
    assert picked.label_names == ("2", "5")


def test_header_can_be_said(write):
    path = write("1,2\n3,4\n5,6\n")
    assert len(datasets.from_csv(path, header=True)) == 2
    assert len(datasets.from_csv(path)) == 3


def test_words_in_the_label_column_are_no_header(write):
    rows = "5.1,3.5,setosa\n4.9,3.0,setosa\n6.1,2.8,virginica\n"
    for column in (2, -1):
        data = datasets.from_csv(write(rows), label_column=column)
        assert data.images.shape == (3, 2) and data.label_names == ("setosa", "virginica")
    named = datasets.from_csv(write("length,width,species\n" + rows), label_column=2)
    assert named.images.shape == (3, 2)


def test_a_byte_order_mark_is_no_part_of_a_name(write):
    data = datasets.from_csv(write("a,b\n1,2\n", encoding="utf-8-sig"), columns=["a"])
    assert data.images.tolist() == [[1.0]]


@pytest.mark.parametrize(
    "cell", ["", "n/a", "nan", "NaN", "inf", "-Infinity", "1e60", "1,5", "0x1"]
)
def test_bad_cells_name_line_and_column(write, cell):
    path = write(f'a,b,c\n1,2,3\n4,"{cell}",6\n7,8,9\n')
    with pytest.raises(ValueError) as caught:
        datasets.from_csv(path)
    assert "Line 3, column 'b' (number 1, from 0)" in str(caught.value)
    assert f"Received: {cell!r}" in str(caught.value)
    assert len(datasets.from_csv(path, columns=["a", "c"])) == 3


@pytest.mark.parametrize(
    "text, options, message",
    [
        ("", {}, "is empty"),
        ("a,b\n", {}, "no rows of data"),
        ("a,b\n1,2\n3\n", {}, "Line 3 .* has 1 cells; the first line has 2"),
        ("a,b\n1,2\n", {"columns": ["z"]}, "no column 'z'. The 2 columns: a, b"),
        ("a,b\n1,2\n", {"columns": [2]}, "no column 2"),
        ("a,b\n1,2\n", {"label_column": "z"}, "no column 'z'"),
        ("a\n1\n", {"label_column": "a"}, "No column of values is left"),
        ("a,b\n1,2\n", {"kind": "images"}, "kind='images'"),
        ("a,b\n1,2\n", {"split": "test", "test_fraction": 0.5}, "1 examples cannot be split"),
    ],
)
def test_wrong_files_and_arguments(write, text, options, message):
    with pytest.raises(ValueError, match=message):
        datasets.from_csv(write(text), **options)


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*none.csv"):
        datasets.from_csv(tmp_path / "none.csv")
