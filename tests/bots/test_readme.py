"""The README lists every command with every option, and none that is not there."""

import pathlib
import re

import pytest
import typer.main

from bots.cli.commands import app

README = (pathlib.Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
TABLE = README.partition("| command |")[2].partition("\n\n")[0]
GROUP = typer.main.get_command(app)
LISTED = {
    re.match(r"citebot ((?:(?:eval|slack) )?\w+)", row)[1]: set(re.findall(r"(?<!\w)--?[a-z-]+", row))
    for row in re.findall(r"^\| `(citebot [^`]*)`", TABLE, re.MULTILINE)
}


def commands(group=GROUP, before=""):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")
        else:
            yield before + name, command


@pytest.mark.parametrize(
    ("name", "command"), list(commands()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_command_is_listed_with_its_options(name, command):
    known = {option for parameter in command.params for option in parameter.opts if option.startswith("-")}
    assert LISTED[name] == known - {"--config", "--help"}


def test_no_other_command_is_listed():
    assert set(LISTED) == {name for name, _ in commands()}
