"""What ``--help`` shows of each command."""

import sys

import pytest

from bots.cli import main

COMMANDS = (
    "ask", "backup", "chat", "doctor", "eval citations", "eval retrieval", "feedback", "init", "people", "restore", "run",
    "search", "slack manifest", "sources", "sync",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_help_speaks_of_no_python_type(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["citebot", *command.split(), "--help"])
    with pytest.raises(SystemExit) as left:
        main()
    assert not left.value.code
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: citebot {command} ")
    assert "<" not in shown.replace("1<=x<=1000", "")
    assert "[str]" not in shown
