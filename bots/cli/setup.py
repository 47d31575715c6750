"""``init``."""

import os
import sys
from pathlib import Path

import typer

from bots.cli.output import say
from bots.cli.reach import read_settings
from bots.settings import FILE_NAME, init_toml, normal_reader


def write_settings(config: Path | None) -> int:
    """Write a commented settings file; 1 when one is there already, which is never overwritten."""
    path = (config or Path(os.environ.get("CITEBOT_CONFIG") or FILE_NAME)).expanduser()
    if path.exists():
        say(f"citebot: {path} is there already and stays as it is; remove it first, or name another with --config")
        return 1
    readers = _ask_readers() if sys.stdin.isatty() else []
    path.parent.mkdir(parents=True, exist_ok=True)
    # "x": what another process wrote in the meantime stays too.
    with path.open("x", encoding="utf-8") as file:
        file.write(init_toml(readers))
    typer.echo(f"Wrote {path}.")
    citebot = f"citebot --config {config}" if config else "citebot"
    typer.echo(f"Name your folder of documents in it; then `{citebot} sync`, and `{citebot} chat`.")
    if not readers:
        typer.echo("No readers are named: only this terminal is answered until `readers` says who.")
    return 0


def print_manifest(config: Path | None, *, name: str, url: str) -> int:
    """Print the manifest of the Slack app, with the commands that the settings name."""
    from bots.slack.manifest import manifest

    slack = read_settings(config).slack
    typer.echo(manifest(name=name, ask=slack.ask_command, more=slack.bot_command, request_url=url))
    return 0


def _ask_readers() -> list[str]:
    typer.echo("Who may be answered in chat? Several with commas; Enter: nobody yet.")
    typer.echo("  a workspace, server or group   slack:T0123   discord:1234   telegram:-1234")
    typer.echo("  a channel                      slack:T0123/C0456   discord:1234/5678")
    typer.echo("  a person                       email:a@example.org   discord:@1234   telegram:@1234")
    typer.echo("  anyone who can reach the bot   *")
    while True:
        answer = str(typer.prompt("readers", default="", show_default=False))
        try:
            return [normal_reader(part) for part in answer.split(",") if part.strip()]
        except ValueError as error:
            typer.echo(str(error), err=True)
