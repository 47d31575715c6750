"""A folder with documents, settings, and no variable that changes them."""

import pathlib

import pytest

from tests.bots.handbook import LEAVE, SETTINGS
from tests.fakes.settings import forget_settings


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away every variable that the settings read."""
    forget_settings(monkeypatch)


@pytest.fixture
def home(tmp_path: pathlib.Path, no_settings: None) -> pathlib.Path:
    (tmp_path / "citebot.toml").write_text(SETTINGS)
    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "leave.md").write_text(LEAVE)
    (tmp_path / "handbook" / "休假.md").write_text("# 休假制度\n\n员工每年最多可以结转五天年假到下一年。\n")
    (tmp_path / "handbook" / "broken.json").write_text('{"rooms": [')
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "merger.txt").write_text("The merger with Brightwater closes on 4 May.")
    return tmp_path
