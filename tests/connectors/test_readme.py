"""The connector that ``connectors/README.md`` shows is run, as every other one is."""

import pathlib
import re
import sys
import types

import pytest

from connectors.base import SourceType
from tests.connectors.conformance import Conformance
from tests.connectors.notes import NotesServer, NotesWorld

README = pathlib.Path(__file__).resolve().parents[2] / "connectors" / "README.md"


def shown() -> str:
    """Return the code that the page shows."""
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return code


@pytest.fixture
def kind(monkeypatch: pytest.MonkeyPatch) -> SourceType:
    module = types.ModuleType("notes_of_the_readme")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # where dataclasses look for it
    exec(compile(shown(), str(README), "exec"), module.__dict__)
    found = module.__dict__["NOTES"]
    assert isinstance(found, SourceType)
    return found


def test_it_is_short() -> None:
    assert len(shown().splitlines()) < 150


class TestReadme(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self, kind):
        server = NotesServer()
        async with server.serving() as url:
            yield NotesWorld(kind, server, url)
