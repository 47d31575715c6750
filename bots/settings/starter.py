"""The file that `citebot init` writes."""

import json
from collections.abc import Sequence
from importlib.resources import files

from bots.settings.grammar import normal_reader


def init_toml(readers: Sequence[str] = ()) -> str:
    """Return a commented ``citebot.toml`` whose one knowledge base has these readers; ValueError for a wrong one."""
    listed = json.dumps([normal_reader(reader) for reader in readers], ensure_ascii=False)
    return files("bots.settings").joinpath("init.toml").read_text(encoding="utf-8").replace("@READERS@", listed)
