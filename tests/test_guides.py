"""What the guides say that a reader sees is what Citebot says, word by word."""

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
SAID_BY_PLATFORMS = {
    "Conflict: terminated by other getUpdates request",
    "Sending messages to this app has been turned off",
}


def texts() -> str:
    """Return every text in the code, a line each; one in several pieces is whole, what is filled in stands as "…"."""
    found = []
    for folder in ("bots", "ragcore"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.append(node.value)
                elif isinstance(node, ast.JoinedStr):
                    parts = (str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
                    found.append("".join(parts))
    return "\n".join(found)


def quoted(guide: str) -> list[str]:
    """Return what stands in quotes or as code in the first column under "When it doesn't answer"."""
    page = (ROOT / "docs" / f"{guide}.md").read_text(encoding="utf-8")
    rows = page.partition("| what you see |")[2].splitlines()[2:]
    return [one or other for row in rows for one, other in re.findall(r'`([^`]+)`|"([^"]+)"', row.split(" | ")[0])]


@pytest.mark.parametrize("guide", ["slack", "discord", "telegram"])
def test_what_a_reader_sees_is_what_is_said(guide: str) -> None:
    said = texts()
    phrases = [phrase for phrase in quoted(guide) if phrase not in SAID_BY_PLATFORMS]
    assert phrases
    missing = [
        phrase
        for phrase in phrases
        if not all(part.strip().rstrip(":") in said for part in phrase.split("…") if part.strip())
    ]
    assert not missing
