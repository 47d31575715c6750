"""``people``."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from bots.cli.forms import reply_form
from bots.cli.output import print_json, results
from bots.cli.reach import reach, read_settings
from bots.rendering.clean import clean, clean_line
from bots.requests import DropReply, ListPeople, PersonReply


async def run_people(config: Path | None, *, remove: str, as_json: bool) -> int:
    """Show what people replied, or remove one reply from the documents."""
    settings = read_settings(config)
    async with reach(settings, command="people") as gateway:
        request = DropReply(reply=remove) if remove else ListPeople()
        replies = [event async for event in gateway.run(request) if isinstance(event, PersonReply)]
    if as_json:
        print_json([reply_form(reply) for reply in replies])
    else:
        show_replies(replies, results(), removed=bool(remove))
    return 0


def show_replies(replies: Sequence[PersonReply], console: Console, *, removed: bool = False) -> None:
    """Print each reply under its question: when and by whom, and whether it is a document."""
    if removed:
        for reply in replies:
            console.print(Text(f"{clean_line(reply.document_id)} is no document any longer."), soft_wrap=True)
        return
    if not replies:
        console.print(Text("Nobody has replied to a question yet; `owners` of a knowledge base names who is asked."))
    for reply in replies:
        head = Text("document " if reply.is_kept else "not kept ", "green" if reply.is_kept else "yellow")
        when = reply.said_at.astimezone().strftime("%Y-%m-%d %H:%M")
        told = f"{when}  {clean_line(reply.author)}  {clean_line(reply.knowledge_base)}  {clean_line(reply.id)}"
        console.print(head.append(f" {told}", "dim"))
        for text, style in ((clean_line(reply.question), "bold"), (clean(reply.text), "")):
            console.print(Padding(Text(text, style=style), (0, 0, 0, 2), expand=False))
