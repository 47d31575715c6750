"""Every fixed sentence that people see stands in a catalogue, in English and Chinese at least; adapters hold none."""

import ast
import pathlib
import re
from collections.abc import Iterator, Mapping

import pytest

import bots
from bots.words.captions import _WORDS, CAPTIONS
from bots.words.commands import _DESCRIPTIONS, _OPTIONS, OPTIONS
from bots.words.commands import COMMANDS as NAMES
from bots.words.gist import _SENTENCES as _GIST
from bots.words.gist import GIST_WORDS
from bots.words.sentences import _SENTENCES, WORDS
from ragcore.phrases import _SENTENCES as _PHRASES
from ragcore.phrases import PHRASES

ROOT = pathlib.Path(bots.__file__).parent
ADAPTERS = [path for name in ("slack", "discord", "telegram") for path in sorted((ROOT / name).glob("*.py"))]
FOR_OPERATORS = ("checking.py", "manifest.py")
"""What the doctor finds, and the manifest, whose one language is English (Slack has no other place in it)."""
# Two words side by side, in any script that parts them.
_SENTENCE = re.compile(r"[^\W\d_]{2,} [^\W\d_]{2,}|[\u3040-\u9fff\uac00-\ud7af]{2,}")
# What the platforms themselves say, to be told apart.
_THEIRS = re.compile(r"not found|not modified|can't be|Session is closed|As you gave|As `installation_store")
_NOT_SHOWN = re.compile(r"(^log\.|^re\.|Error$|Gone$|^Platform\w+$|^MessageGone$)")


def sentences(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a module that are no docstring, no remark to the log and no error's text."""
    left: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left.add(id(node.value))
        elif isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _NOT_SHOWN.search(ast.unparse(node.func))):
            left.update(id(part) for part in ast.walk(node))
    for node in ast.walk(tree):
        said = node.value if isinstance(node, ast.Constant) and id(node) not in left else None
        if isinstance(node, ast.Constant) and isinstance(said, str) and _says(said):
            yield node.lineno, said


def _says(text: str) -> bool:
    return bool(_SENTENCE.search(text)) and not _THEIRS.search(text)


@pytest.mark.parametrize("path", ADAPTERS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_an_adapter_says_nothing_of_its_own(path: pathlib.Path) -> None:
    if path.name not in FOR_OPERATORS:
        assert list(sentences(ast.parse(path.read_text("utf-8")))) == []


def test_what_would_be_said_is_found() -> None:
    source = (
        'def f(send):\n    """Say it."""\n    log.info("not this")\n    send("Please try again")\n    send("请再试")\n'
    )
    assert [line for line, _ in sentences(ast.parse(source))] == [4, 5]


@pytest.mark.parametrize(
    ("table", "count"),
    [(_SENTENCES, len(WORDS)), (_GIST, len(GIST_WORDS)), (_PHRASES, len(PHRASES)), (_WORDS, len(CAPTIONS)), (_DESCRIPTIONS, len(NAMES)), (_OPTIONS, len(OPTIONS))],
    ids=["sentences", "gist", "phrases", "captions", "commands", "options"],
)  # fmt: skip
def test_each_catalogue_is_whole_in_english_and_chinese_at_least(table: Mapping[str, object], count: int) -> None:
    assert {"en", "zh"} <= set(table)
    for language, words in table.items():
        said = list(words.values()) if isinstance(words, Mapping) else list(words)  # type: ignore[call-overload]
        assert len(said) == count, language
        assert all(isinstance(one, str) and one.strip() for one in said), language
    if "zh" in table:
        chinese = table["zh"]
        said = list(chinese.values()) if isinstance(chinese, Mapping) else list(chinese)  # type: ignore[call-overload]
        assert all(re.search(r"[\u4e00-\u9fff]", one) for one in said)
