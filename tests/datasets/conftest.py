"""What the tests of data sets share."""

from pathlib import Path

import pytest


@pytest.fixture
def fashion_files():
    """The folder of Debian's package dataset-fashion-mnist."""
    folder = Path("/usr/share/datasets/fashion-mnist")
    if not folder.is_dir():
        pytest.skip("needs Debian's package dataset-fashion-mnist")
    return folder


@pytest.fixture(autouse=True)
def no_sets_of_this_machine(monkeypatch, tmp_path):
    """No set that this machine happens to have may help or disturb."""
    monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path / "no_prepared_sets"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no_cache"))
    monkeypatch.delenv("KERAS_VAEZOO_DATA", raising=False)
