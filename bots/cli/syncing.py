"""``sync``."""

import asyncio
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

from bots.cli.forms import enrich_form, report_form
from bots.cli.output import print_json, remarks, results, say
from bots.cli.reach import reach, read_settings
from bots.counting import counted, lacking, mends
from bots.rendering.clean import clean_line
from bots.requests import Decide, Doubt, Sync
from bots.service import Gateway
from bots.settings import Settings
from ragcore.reports import EnrichReport, SyncProgress, SyncReport
from ragcore.types import Usage


async def run_sync(config: Path | None, request: Sync, *, as_json: bool) -> int:
    """Run sources and report; 1 when a source or a document failed: an empty one is told, and is no failure."""
    settings = read_settings(config)
    _check_sources(settings, request)
    async with reach(settings, command="sync", serving=True) as gateway:
        reports, enriched = await _follow(gateway, replace(request, ask_first=True), quiet=as_json)
    if as_json:
        print_json([*map(report_form, reports), *map(enrich_form, enriched)])
    else:
        for report in reports:
            _show_report(report)
        for one in enriched:
            _show_enriched(one)
    unread = any(report.error or any(not one.is_empty for one in report.failed) for report in reports)
    return int(unread or any(one.error for one in enriched))


def _check_sources(settings: Settings, request: Sync) -> None:
    known = [source.name for source in settings.sources]
    for name in request.sources:
        if name not in known:
            raise typer.BadParameter(
                f"there is no source {name!r} (there is: {', '.join(known) or 'none'})", param_hint="SOURCE"
            )
    if not known:
        where = settings.file or "citebot.toml (`citebot init` writes one)"
        say(f"No source is set up. Add a [[sources]] table to {where}.")


async def _follow(gateway: Gateway, request: Sync, *, quiet: bool) -> tuple[list[SyncReport], list[EnrichReport]]:
    """Show progress on stderr while a sync runs: a bar on a terminal, else a line a source."""
    reports: list[SyncReport] = []
    enriched: list[EnrichReport] = []
    console = remarks()
    with ExitStack() as stack:
        progress = stack.enter_context(_bar(console)) if console.is_terminal and not quiet else None
        tasks: dict[str, TaskID] = {}
        async for event in gateway.run(request):
            if isinstance(event, SyncReport):
                reports.append(event)
            elif isinstance(event, EnrichReport):
                enriched.append(event)
            elif isinstance(event, Doubt):
                await _decide(gateway, event, progress)
            elif isinstance(event, SyncProgress) and progress is not None:
                _advance(progress, tasks, event)
            elif isinstance(event, SyncProgress) and event.source not in tasks and not quiet:
                say(f"{event.source.capitalize() if ' ' in event.source else f'Syncing {event.source}'} ...")
                tasks[event.source] = TaskID(0)
    return reports, enriched


async def _decide(gateway: Gateway, doubt: Doubt, progress: Progress | None) -> None:
    """Tell on stderr how much is to be deleted, and ask whoever sits there; where nobody does, ``--full`` is a yes."""
    if progress:
        progress.stop()
    gone = "is" if doubt.documents == 1 else "are"
    say(f"{doubt.source}: {counted(doubt.documents, 'document')} {gone} no longer at the source.")
    agreed = True
    if sys.stdin.isatty():
        agreed = await asyncio.to_thread(typer.confirm, "Delete them from the index?", default=False, err=True)
    async for _ in gateway.run(Decide(doubt=doubt.id, agreed=agreed)):
        pass
    if progress:
        progress.start()


def _bar(console: Console) -> Progress:
    """Return a bar on one line of any terminal; the name of the document takes what room is left."""
    return Progress(
        TextColumn("{task.fields[source]}", markup=False, table_column=Column(no_wrap=True, max_width=20)),
        BarColumn(bar_width=min(30, console.width // 6), table_column=Column(no_wrap=True)),
        TextColumn("{task.fields[done]}", style="progress.download", table_column=Column(no_wrap=True)),
        TimeElapsedColumn(table_column=Column(no_wrap=True)),
        TextColumn("{task.description}", markup=False, style="dim", table_column=Column(no_wrap=True, ratio=1)),
        console=console,
        transient=True,
        expand=True,
    )


def _advance(progress: Progress, tasks: dict[str, TaskID], event: SyncProgress) -> None:
    if event.source not in tasks:
        tasks[event.source] = progress.add_task("", total=event.total, source=clean_line(event.source), done="")
    progress.update(
        tasks[event.source],
        completed=max(event.reached, event.done),
        total=event.total,
        done=f"{event.done}/{event.total}" if event.total is not None else "looking for changes",
        description=_doing(event),
    )


def _doing(event: SyncProgress) -> str:
    """Return the document, and before it, where that takes long enough to tell, what is being done with it."""
    share = f" {event.share:.0%}" if event.share else ""
    doing = f"{event.stage}{share}: " if event.stage else ""
    # The source's name stands at the left already.
    return doing + clean_line(event.document_id.removeprefix(f"{event.source}:"))


def _show_report(report: SyncReport) -> None:
    console = results()
    empty = sum(failed.is_empty for failed in report.failed)
    counts = [
        f"{count} {what}"
        for count, what in (
            (report.added, "added"),
            (report.changed, "changed"),
            (report.deleted, "deleted"),
            (report.unchanged, "unchanged"),
            (len(report.failed) - empty, "failed"),
            (empty, "empty"),
        )
        if count
    ]
    tense = " (dry run: nothing was changed)" if report.dry_run else ""
    # A run that broke off at its start has counted nothing.
    done = ", ".join(counts) or ("failed" if report.error else "no documents")
    head = Text(clean_line(report.source), style="bold")
    head.append(f": {done} in {report.seconds:.1f} s{tense}", "not bold")
    console.print(head)
    for sign, ids in (("+", report.added_ids), ("~", report.changed_ids), ("-", report.deleted_ids)):
        for document_id in ids:
            console.print(Text(f"  {sign} {clean_line(document_id)}"))
    if report.usage.calls or report.cached:
        console.print(Text(f"  {_described(report)}"))
    for failed in report.failed:
        line = Text("  ! ", style="yellow") if failed.is_empty else Text("  ✗ ", style="red")
        line.append(f"{clean_line(failed.id)}: {clean_line(failed.reason)}", "default")
        if failed.mend:
            line.append(f" → {clean_line(failed.mend)}", "default")
        console.print(line)
    for warning in report.warnings:
        console.print(Text(f"  ! {clean_line(warning)}", style="yellow"))
    if report.error:
        console.print(Text(f"  ✗ {clean_line(report.error)}", style="red"))


def _described(report: SyncReport) -> str:
    """Return what describing pictures took, or would take."""
    if report.dry_run:
        return f"describing pictures would take about {_spent(report.usage, 'vision model')}"
    cached = f", {report.cached:,} known from before" if report.cached else ""
    return f"pictures described with {_spent(report.usage, 'vision model')}{cached}"


def _spent(usage: Usage, model: str) -> str:
    tokens = f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens"
    return f"{counted(usage.calls, 'call')} of the {model}, {tokens}"


def _show_enriched(report: EnrichReport) -> None:
    """Show what a model added to a knowledge base, and what that took; or what it would take."""
    console = results()
    name, spent = clean_line(report.knowledge_base), _spent(report.usage, "model")
    what = f"{counted(report.documents, 'document')} ({counted(report.chunks, 'chunk')})"
    is_done = report.documents or report.summaries or report.failed or report.dry_run
    if is_done or not (report.error or report.without):
        head = Text(name, style="bold")
        if report.dry_run:
            tags = f", and at most {counted(report.most_tag_calls, 'call')} for tags" if report.most_tag_calls else ""
            head.append(f": enriching {what} would take about {spent}{tags} (dry run: nothing was asked)", "not bold")
        else:
            cached = f", {report.cached:,} known from before" if report.cached else ""
            if report.summaries:
                what += f" and {counted(report.summaries, 'overview')} of them"
            head.append(f": {what} enriched with {spent}{cached}, in {report.seconds:.1f} s", "not bold")
        console.print(head)
    for failed in report.failed:
        what = counted(failed.chunks, "chunk") if failed.chunks else "the document as a whole"
        if failed.document_id == report.knowledge_base:
            what = "its documents together"
        told = f"{clean_line(failed.document_id)}: {what} not enriched: {clean_line(failed.reason)}"
        console.print(Text(f"  ! {told}", style="yellow"))
    for without in report.without:
        mend = mends(without)
        told = f"{lacking(without)} ({mend})" if mend else lacking(without)
        console.print(Text(f"  ! {name}: {clean_line(told)}", style="yellow"))
    if report.error:
        console.print(Text(f"  ✗ {name}: {clean_line(report.error)}", style="red"))
