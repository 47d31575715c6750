"""The twenty-odd answers that a reviewer can read, and the README's picture, are what Citebot gives today."""

import asyncio
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

from ragcore.parsing import parse
from ragcore.terms import language_of

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"


@pytest.mark.soak
def test_the_answers_on_file_are_todays(tmp_path: pathlib.Path) -> None:
    spec = importlib.util.spec_from_file_location("answer_all", EXAMPLES / "answer_all.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = asyncio.run(module.answer_all(tmp_path / "data"))
    on_file = {path.name: path.read_text(encoding="utf-8") for path in (EXAMPLES / "answers").glob("*.md")}
    assert written == on_file, "run: python examples/answer_all.py, and read what changed"


@pytest.mark.soak
def test_the_picture_is_todays(tmp_path: pathlib.Path) -> None:
    drawn = tmp_path / "demo.svg"
    subprocess.run(
        [sys.executable, EXAMPLES / "picture.py", drawn], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True
    )
    today = drawn.read_text(encoding="utf-8") == (ROOT / "docs" / "demo.svg").read_text(encoding="utf-8")
    assert today, "run: python examples/picture.py, and look at it"


def test_the_documents_are_those_that_the_readme_tells_of() -> None:
    files = [path for path in (EXAMPLES / "documents").rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".md", ".html", ".pdf", ".docx", ".xlsx", ".csv"}
    texts = ["\n".join(one.text for one in parse(path.read_bytes(), name=path.name).sections) for path in files]
    assert all(texts)
    assert [language_of(text) for text in texts].count("zh") == 2
    told = re.search(r"The examples are (\d+) documents", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert told is not None
    assert 10 <= len(files) == int(told[1]) <= 20
