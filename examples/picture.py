"""Draw docs/demo.svg: a conversation in the terminal about the examples, as `citebot chat` shows it.

python examples/picture.py [FILE]
"""

import asyncio
import io
import pathlib
import re
import sys
import tempfile

from rich.console import Console
from rich.text import Text

from bots.app import open_operations
from bots.console import PROMPT
from bots.requests import Ask, Sync
from bots.settings import load_settings
from bots.showing import show_answer
from ragcore.phrases import phrase

HERE = pathlib.Path(__file__).resolve().parent
_FONT_FACE = re.compile(r"@font-face\s*\{[^}]*\}\s*")
QUESTIONS = (
    "How many unused leave days can I carry over, and until when?",
    "What should I do when the VPN shows ERR_CONN_104?",
    "中国大陆销售的主机保修期是多久？",
)


async def converse(console: Console, data: pathlib.Path) -> None:
    """Ask the questions and print what the terminal would show, without addresses of this machine."""
    settings = load_settings(HERE / "citebot.toml").model_copy(update={"data_dir": data})
    hidden: frozenset[str] = frozenset()
    async with open_operations(settings) as operations:
        async for _ in operations.run(Sync()):
            pass
        for question in QUESTIONS:
            console.print(Text(PROMPT, style="bold"), question, sep="")
            await show_answer(operations.run(Ask(question=question)), console, hidden_notes=hidden)
            console.print()
            hidden = frozenset(phrase("no_model", language) for language in ("en", "zh"))


def main() -> None:
    """Write the picture."""
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "docs" / "demo.svg"
    console = Console(record=True, width=96, file=io.StringIO(), color_system="truecolor")
    with tempfile.TemporaryDirectory() as data:
        asyncio.run(converse(console, pathlib.Path(data)))
    svg = console.export_svg(title="citebot chat", unique_id="citebot")
    # A picture fetches nothing: the reader's own monospaced font will do.
    target.write_text(_FONT_FACE.sub("", svg), encoding="utf-8")


if __name__ == "__main__":
    main()
