"""Settings written into the working directory, and what is said when they are wrong."""

import os
import pathlib

import pytest

from bots.settings import load_settings
from ragcore.errors import ConfigError
from tests.fakes.running import is_setting


def read_by_all(name: str, *, path: str = "", more: str = "") -> str:
    """Return settings of a folder that everybody may read, beside them under its name unless there is a path."""
    return f"""
[knowledge_bases.{name}]
readers = ["*"]
[[sources]]
name = "{name}"
type = "files"
path = "{path or name}"
{more}
"""


HANDBOOK = read_by_all("handbook")


def forget_settings(monkeypatch):
    """Take away every variable that the settings read."""
    for name in [name for name in os.environ if is_setting(name)]:
        monkeypatch.delenv(name)


def write(text, path=pathlib.Path("citebot.toml")):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refusal(text, **kwargs):
    write(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(**kwargs)
    return str(caught.value)
