import pytest

from tests.fakes.settings import forget_settings


@pytest.fixture(autouse=True)
def _nowhere(tmp_path, monkeypatch):
    """Stand in an empty folder, with none of the variables that settings read."""
    monkeypatch.chdir(tmp_path)
    forget_settings(monkeypatch)
