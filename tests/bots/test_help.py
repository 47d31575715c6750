"""What ``--help`` shows of each command."""

import subprocess
import sys

import pytest

from tests.fakes.running import ROOT, environment

COMMANDS = (
    "ask", "backup", "chat", "doctor", "eval citations", "eval retrieval", "feedback", "init", "people", "restore", "run",
    "search", "slack manifest", "sources", "sync",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_help_speaks_of_no_python_type(command: str) -> None:
    asked = [sys.executable, "-m", "bots", *command.split(), "--help"]
    ran = subprocess.run(asked, cwd=ROOT, env=environment(), capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.startswith(f"Usage: citebot {command} ")
    assert "<" not in ran.stdout.replace("1<=x<=1000", "")
    assert "[str]" not in ran.stdout
