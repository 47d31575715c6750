"""What the recipes and the descriptions of source types tell to write is what the types take."""

import inspect
import pathlib
import re
import tomllib

import pytest

from connectors.registry import options_model

RECIPES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "recipes"
_BLOCK = re.compile(r"```toml\n(.*?)```", re.DOTALL)
_OF_EVERY_SOURCE = {"name", "type", "knowledge_base", "schedule"}


@pytest.mark.parametrize(
    "kind", ["confluence", "feed", "gitlab", "google_drive", "imap", "jira", "notion", "reader", "rest"]
)
def test_the_examples_are_taken(kind):
    page = (RECIPES / f"{kind}.md").read_text(encoding="utf-8") + inspect.cleandoc(options_model(kind).__doc__ or "")
    sources = [source for block in _BLOCK.findall(page) for source in tomllib.loads(block)["sources"]]
    assert len(sources) >= 2
    for source in sources:
        assert source["type"] == kind
        options = {key: value for key, value in source.items() if key not in _OF_EVERY_SOURCE}
        options_model(kind).model_validate(options)
