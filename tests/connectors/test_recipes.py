"""What the recipes and the descriptions of source types tell to write is what the types take."""

import inspect
import pathlib
import re
import tomllib
from collections.abc import Iterator, Mapping

import pytest

from connectors.registry import BUILT_IN, options_model

RECIPES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "recipes"
_BLOCK = re.compile(r"```toml\n(.*?)```", re.DOTALL)
_OF_EVERY_SOURCE = {"name", "type", "knowledge_base", "schedule"}


def examples(kind: str) -> Iterator[Mapping[str, object]]:
    """Yield what each example sets, beside the keys of every source; one may show a few keys without their table."""
    page = inspect.cleandoc(options_model(kind).__doc__ or "")
    recipe = RECIPES / f"{kind}.md"
    page += recipe.read_text(encoding="utf-8") if recipe.exists() else ""
    for block in _BLOCK.findall(page):
        shown = tomllib.loads(block)
        for source in shown.get("sources", [shown]):
            assert source.get("type", kind) == kind
            yield {key: value for key, value in source.items() if key not in _OF_EVERY_SOURCE}


@pytest.mark.parametrize("kind", sorted(BUILT_IN))
def test_the_examples_are_taken(kind: str) -> None:
    shown = list(examples(kind))
    assert shown, "an example tells more than a table of keys"
    for options in shown:
        options_model(kind).model_validate(options)


def test_there_is_no_recipe_for_what_is_no_type() -> None:
    assert {path.stem for path in RECIPES.glob("*.md")} <= set(BUILT_IN)
