"""Every command with its arguments; the work is in the modules beside this one."""

import atexit
import errno
import gc
import os
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperArgument
from typer.main import get_command

from ragcore.errors import CitebotError, StoreError

Config = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="The settings. [default: $CITEBOT_CONFIG, citebot.toml]")
]
KnowledgeBases = Annotated[
    list[str] | None, typer.Option("--kb", metavar="NAME", help="Search this knowledge base only; may be repeated.")
]
Documents = Annotated[
    list[str] | None,
    typer.Option("--doc", metavar="ID", help="Search this document only (SOURCE:NAME); may be repeated."),
]
Pictures = Annotated[
    Path | None,
    typer.Option(
        "--pictures", metavar="DIR", file_okay=False, help="Write each passage of a PDF there, cut from its page."
    ),
]
Filter = Annotated[
    str,
    typer.Option(
        "--filter",
        metavar="FILTER",
        help="Search only documents that meet this, e.g. 'year >= 2024 and status = open'.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

app = typer.Typer(
    name="citebot",
    help="Answers questions from your own documents, every sentence linked to its source.",
    rich_markup_mode=None,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
evaluations = typer.Typer(help="Measure on a data set with known answers.", rich_markup_mode=None, no_args_is_help=True)
app.add_typer(evaluations, name="eval")
slack = typer.Typer(help="What Slack needs to know of Citebot.", rich_markup_mode=None, no_args_is_help=True)
app.add_typer(slack, name="slack")


def main() -> NoReturn:
    """Run the command line: exit 0 done, 1 failed, 2 wrong use, 130 interrupted."""
    # Imports make many objects, and nearly all of them stay: at its defaults the collector looks through them in vain,
    # often at the start and once more at the end, which together is a quarter of the time of an `ask`.
    gc.set_threshold(10_000, 20, 50)
    atexit.register(gc.freeze)
    _make_streams_safe()
    try:
        _without_types(get_command(app))(prog_name="citebot")
    except StoreError as error:
        hint = "" if "`citebot " in str(error) else "; `citebot doctor` says how to mend it"
        _leave(f"citebot: {error}{hint}", error)
    except CitebotError as error:
        _leave(f"citebot: {error}", error)
    except BrokenPipeError:
        # Whoever read our output has seen enough. Nothing may be written any more, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        _leave(f"citebot: {_in_words(error)}", error)
    sys.exit(0)


def _without_types(command: Any) -> Any:
    """Leave Python's types (``<list[str]>``) out of the help: each argument says in words what it is."""
    for argument in command.params:
        if isinstance(argument, TyperArgument):
            argument.display_type_rich = lambda ctx: None  # type: ignore[method-assign]
    for inner in getattr(command, "commands", {}).values():
        _without_types(inner)
    return command


def _leave(message: str, error: Exception) -> NoReturn:
    from bots.rendering.clean import clean

    if _debugging():
        raise error
    typer.echo(clean(message), err=True)
    sys.exit(1)


def _in_words(error: OSError) -> str:
    """Return what the system refused, without its number."""
    place = f"{error.filename}: " if error.filename else ""
    hint = "; free some disk space, or set another data_dir" if error.errno in {errno.ENOSPC, errno.EDQUOT} else ""
    return f"{place}{error.strerror or error}{hint}"


def _debugging() -> bool:
    return os.environ.get("CITEBOT_DEBUG", "") not in {"", "0"}


def _make_streams_safe() -> None:
    """Let no character that the terminal's encoding lacks end a command."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"citebot {version('citebot')}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    config: Config = None,
    debug: Annotated[
        bool, typer.Option("--debug", help="Log everything, and show where an error arose. [or: CITEBOT_DEBUG=1]")
    ] = False,
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Keep what stands before the command."""
    if debug:
        os.environ["CITEBOT_DEBUG"] = "1"
    context.obj = config


def _run(work: Coroutine[Any, Any, int]) -> NoReturn:
    """Run a command's work and exit with what it returns."""
    import asyncio

    from bots.cli.output import start_logging

    start_logging(debug=_debugging())
    try:
        code = asyncio.run(work)
    except KeyboardInterrupt:
        typer.echo("citebot: stopped", err=True)
        code = 130
    raise typer.Exit(code)


@app.command()
def init(context: typer.Context, config: Config = None) -> None:
    """Write a commented citebot.toml, unless there is one already."""
    from bots.cli.setup import write_settings

    raise typer.Exit(write_settings(config or context.obj))


@app.command()
def sync(
    context: typer.Context,
    sources: Annotated[list[str] | None, typer.Argument(metavar="SOURCE", help="Which sources; else all.")] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Read everything anew, and delete at once what is no longer there.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")] = False,
    json: Json = False,
    config: Config = None,
) -> None:
    """Bring the index up to date with the sources, now."""
    from bots.cli.syncing import run_sync
    from bots.requests import Sync

    request = Sync(sources=tuple(sources or ()), full=full, dry_run=dry_run, enrich=True)
    _run(run_sync(config or context.obj, request, as_json=json))


@app.command()
def ask(
    context: typer.Context,
    question: Annotated[list[str], typer.Argument(metavar="QUESTION", help="What you want to know.")],
    kb: KnowledgeBases = None,
    doc: Documents = None,
    only: Filter = "",
    reader: Annotated[
        str, typer.Option("--as", metavar="READER", help="Answer as this reader would be answered, e.g. slack:T0123.")
    ] = "",
    pictures: Pictures = None,
    research: Annotated[
        bool, typer.Option("--research", help="Search in several rounds, for a question that one search can't answer.")
    ] = False,
    why: Annotated[bool, typer.Option("--why", help="Show all that was searched, found, dropped and asked.")] = False,
    json: Json = False,
    config: Config = None,
) -> None:
    """Answer one question, without a history."""
    from bots.cli.asking import run_ask
    from bots.requests import Ask

    request = Ask(
        question=" ".join(question),
        knowledge_bases=tuple(kb or ()),
        document_ids=tuple(doc or ()),
        filter=only,
        research=research,
        why=why,
    )
    _run(run_ask(config or context.obj, request, reader=reader, as_json=json, pictures=pictures))


@app.command()
def chat(context: typer.Context, kb: KnowledgeBases = None, config: Config = None) -> None:
    """Talk in the terminal.

    Where the input is no terminal, each of its lines is answered.
    """
    from bots.cli.asking import run_chat
    from bots.cli.output import start_logging

    start_logging(debug=_debugging())
    raise typer.Exit(run_chat(config or context.obj, tuple(kb or ())))


@app.command()
def search(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What to look for.")],
    kb: KnowledgeBases = None,
    doc: Documents = None,
    only: Filter = "",
    limit: Annotated[int, typer.Option("-k", metavar="N", min=1, max=1000, help="How many.")] = 10,
    pictures: Pictures = None,
    json: Json = False,
    config: Config = None,
) -> None:
    """Show the passages that fit best; no model is asked."""
    from bots.cli.asking import run_search
    from bots.requests import Search

    request = Search(
        query=" ".join(query),
        knowledge_bases=tuple(kb or ()),
        document_ids=tuple(doc or ()),
        filter=only,
        limit=limit,
    )
    _run(run_search(config or context.obj, request, as_json=json, pictures=pictures))


@app.command()
def run(context: typer.Context, config: Config = None) -> None:
    """Answer wherever there is a token, and sync on schedule."""
    from bots.cli.running import run_platforms

    _run(run_platforms(config or context.obj, debug=_debugging()))


@app.command(name="sources")
def list_sources(context: typer.Context, json: Json = False, config: Config = None) -> None:
    """Show what each source holds and how its last run ended."""
    from bots.cli.listing import run_sources

    _run(run_sources(config or context.obj, as_json=json))


@app.command()
def feedback(context: typer.Context, json: Json = False, config: Config = None) -> None:
    """Show votes on answers, and questions left without one."""
    from bots.cli.judging import run_feedback

    _run(run_feedback(config or context.obj, as_json=json))


@app.command()
def people(
    context: typer.Context,
    remove: Annotated[
        str, typer.Option("--remove", metavar="ID", help="Let this reply be no document any longer.")
    ] = "",
    json: Json = False,
    config: Config = None,
) -> None:
    """Show what people replied where the documents did not know."""
    from bots.cli.people import run_people

    _run(run_people(config or context.obj, remove=remove, as_json=json))


@app.command()
def doctor(
    context: typer.Context,
    json: Json = False,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended.")] = False,
    config: Config = None,
) -> None:
    """Check everything, and say how to mend what is wrong."""
    from bots.cli.checking import run_doctor

    _run(run_doctor(config or context.obj, repair=repair, as_json=json))


@app.command()
def backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it.")],
    config: Config = None,
) -> None:
    """Write all of the data to one file, also while Citebot runs."""
    from bots.cli.saving import run_backup

    _run(run_backup(config or context.obj, file.expanduser().absolute()))


@app.command()
def restore(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `backup` wrote.", exists=True, dir_okay=False)],
    config: Config = None,
) -> None:
    """Put the data directory back as a backup holds it."""
    from bots.cli.saving import run_restore

    _run(run_restore(config or context.obj, file))


@slack.command("manifest")
def slack_manifest(
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="What the bot is called in Slack.")] = "Citebot",
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="Where Slack reaches Citebot by HTTP; without it: Socket Mode.")
    ] = "",
    config: Config = None,
    *,
    context: typer.Context,
) -> None:
    """Print the manifest from which Slack makes the app."""
    from bots.cli.setup import print_manifest

    if url and not url.startswith("https://"):
        raise typer.BadParameter("Slack sends to https:// addresses only", param_hint="--url")
    raise typer.Exit(print_manifest(config or context.obj, name=name, url=url))


@evaluations.command("retrieval")
def eval_retrieval(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The data set.", exists=True)],
    run_file: Annotated[
        Path | None, typer.Option("--run-file", metavar="FILE", help="Write the ranking as a TREC run.")
    ] = None,
    history: Annotated[
        str, typer.Option("--history", metavar="none|all", help="Ask the last turn alone, or with those before it.")
    ] = "none",
    json: Json = False,
) -> None:
    """Measure the search on a data set, apart from your data.

    DIR holds corpus.jsonl, queries.jsonl and qrels/test.tsv as in BEIR; docs/operations.md names their fields.
    """
    from bots.cli.evaluating import run_retrieval

    if history not in {"none", "all"}:
        raise typer.BadParameter("none or all", param_hint="--history")
    _run(run_retrieval(folder, run_file, with_history=history == "all", as_json=json))


@evaluations.command("citations")
def eval_citations(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="cases.jsonl", exists=True, dir_okay=False)],
    json: Json = False,
) -> None:
    """Measure the citations put into labelled answers.

    Each line of FILE is one answer with its passages; docs/operations.md names its fields.
    """
    from bots.cli.evaluating import run_citations

    _run(run_citations(file, as_json=json))
