"""Settings written into the working directory, and what is said when they are wrong."""

import os
import pathlib

import pytest

from bots.settings import load_settings
from ragcore.errors import ConfigError
from tests.fakes.running import is_setting

HANDBOOK = """
[knowledge_bases.handbook]
readers = ["*"]
[[sources]]
name = "handbook"
type = "files"
path = "handbook"
"""
"""A folder beside the settings that everybody may read."""


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
