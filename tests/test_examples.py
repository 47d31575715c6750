"""The twenty-odd answers that a reviewer can read, and the README's picture, are what Citebot gives today."""

import asyncio
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"


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
