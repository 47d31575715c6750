"""``feedback``."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from bots.cli.forms import judgement_form, unanswered_form
from bots.cli.output import print_json, results
from bots.cli.reach import reach, read_settings
from bots.counting import counted
from bots.rendering.clean import clean, clean_line
from bots.requests import Judgement, ListFeedback, ReadChunk, Unanswered
from bots.turn.claims.claim import Outcome
from bots.words.captions import REASONS, caption
from ragcore.citations.markers import find, remove

_SIGNS = {"up": "👍", "down": "👎"}
_WHY: dict[str, str] = {
    Outcome.UNSUPPORTED: "no document supports the answer",
    Outcome.ABSTAINED: "no answer found",
    Outcome.NO_DOCUMENTS: "no documents read",
    Outcome.NOT_ALLOWED: "not allowed to read",
    Outcome.FAILED: "failed",
    Outcome.UNSENT: "could not be sent",
    Outcome.LATE: "came too late",
}


async def run_feedback(config: Path | None, *, as_json: bool) -> int:
    """Show the votes and the questions that were left unanswered."""
    settings = read_settings(config)
    async with reach(settings, command="feedback") as gateway:
        events = [event async for event in gateway.run(ListFeedback())]
    votes = [event for event in events if isinstance(event, Judgement)]
    unanswered = [event for event in events if isinstance(event, Unanswered)]
    if as_json:
        told = {"votes": [judgement_form(vote) for vote in votes]}
        print_json({**told, "unanswered": [unanswered_form(question) for question in unanswered]})
    else:
        show_feedback(votes, unanswered, results())
    return 0


def show_feedback(votes: Sequence[Judgement], unanswered: Sequence[Unanswered], console: Console) -> None:
    """Print each vote with what was asked, answered and read, then the questions without an answer."""
    if not votes and not unanswered:
        console.print(Text("No votes and no unanswered questions on the chat platforms yet."))
        return
    if votes:
        up = sum(vote.side == "up" for vote in votes)
        console.print(Text(f"{counted(len(votes), 'vote')}: {up} 👍, {len(votes) - up} 👎", style="bold"))
    for vote in votes:
        _show_vote(vote, console)
    if unanswered:
        head = f"{counted(len(unanswered), 'question')} without an answer from the documents"
        console.print(Text(f"\n{head}" if votes else head, style="bold"))
    for question in unanswered:
        told = _head(question.asked_at, question.platform, question.asker, question.reference)
        why = _WHY.get(question.outcome, question.outcome)
        console.print(Text(clean_line(why), style="yellow").append(told, "dim"))
        _indented(Text(clean(question.question)), console, 2)


def numbered(answer: str, chunks: Sequence[ReadChunk]) -> str:
    """Return the answer with the numbers that readers saw in the place of its markers."""
    numbers = {chunk.id: chunk.number for chunk in chunks if chunk.number}
    found = find(answer)
    for marker in reversed([marker for marker in found if marker.id in numbers]):
        answer = f"{answer[: marker.start]}[{numbers[marker.id]}]{answer[marker.end :]}"
    return remove(answer, find(answer))


def _show_vote(vote: Judgement, console: Console) -> None:
    head = Text(f"\n{_SIGNS[vote.side]} ")
    head.append(_reason(vote.reason), "yellow")
    console.print(head.append(_head(vote.voted_at, vote.platform, vote.voter, vote.reference), "dim"))
    if not vote.question and not vote.answer:
        _indented(Text("What was asked was forgotten before the vote."), console, 2)
        return
    _indented(Text(clean(vote.question), style="bold"), console, 2)
    _indented(Text(clean(numbered(vote.answer, vote.chunks)).strip()), console, 2)
    for chunk in sorted(vote.chunks, key=lambda chunk: (chunk.number == 0, chunk.number, chunk.id)):
        mark = f"[{chunk.number}]" if chunk.number else "not cited:"
        line = f"{mark} {clean_line(chunk.title)}, {clean_line(chunk.document_id)} ({chunk.score:.2f})"
        _indented(Text(line, style="dim"), console, 4)


def _reason(given: str) -> str:
    """Return what the button says that was pressed."""
    return next((caption(reason) for reason in REASONS if reason == given), clean_line(given))


def _head(moment: datetime, platform: str, person: str, reference: str) -> str:
    when = moment.astimezone().strftime("%Y-%m-%d %H:%M")
    # A voter's name tells the platform (``slack:T0123/@U1``), an asker's id does not.
    who = person if person.startswith(f"{platform}:") else f"{platform} {person}"
    return f"  {when}  {clean_line(who)}  {clean_line(reference)}"


def _indented(text: Text, console: Console, by: int) -> None:
    console.print(Padding(text, (0, 0, 0, by), expand=False))
