import os

import pytest


@pytest.fixture(autouse=True)
def _nowhere(tmp_path, monkeypatch):
    """Stand in an empty folder, with none of the variables that settings read."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("CITEBOT_") or name.endswith(("_API_KEY", "_TOKEN", "_SIGNING_SECRET")):
            monkeypatch.delenv(name)
