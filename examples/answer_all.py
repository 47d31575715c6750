"""Write Citebot's answers to questions.txt into answers/, one file a question, for a person to read.

    python examples/answer_all.py [FOLDER]

The documents are indexed into a temporary folder; no model, no key, no network.
"""

import asyncio
import pathlib
import re
import sys
import tempfile

from bots.app import open_operations
from bots.requests import Ask, Sync
from bots.settings import load_settings
from ragcore.citations import markers
from ragcore.types import Answer

HERE = pathlib.Path(__file__).resolve().parent


def shown(answer: Answer) -> str:
    """Return question, answer and sources as Markdown, without addresses: those are different on every machine."""
    numbers = {citation.id: citation.number for citation in answer.citations}
    text = answer.raw_text
    for found in reversed(markers.find(text)):
        text = f"{text[: found.start]}[{numbers[found.id]}]{text[found.end :]}"
    lines = [f"# {answer.question}", "", text]
    for citation in answer.citations:
        place = f", {citation.location}" if citation.location else ""
        name = citation.document_id.partition(":")[2]
        quote = " ".join(citation.quote.split())
        lines += ["", f"[{citation.number}] {citation.title}{place} (`{name}`)", "", f"> {quote}"]
    return "\n".join(lines) + "\n"


def file_name(number: int, question: str) -> str:
    """Return a readable file name: the question's words, Chinese ones as they are."""
    words = re.sub(r"[^\w]+", "-", question.casefold()).strip("-")
    return f"{number:02}-{words[:48].strip('-')}.md"


async def answer_all(data: pathlib.Path) -> dict[str, str]:
    """Return file name and content for each question."""
    settings = load_settings(HERE / "citebot.toml").model_copy(update={"data_dir": data})
    files = {}
    async with open_operations(settings) as operations:
        async for _ in operations.run(Sync()):
            pass
        questions = (HERE / "questions.txt").read_text(encoding="utf-8").splitlines()
        for number, question in enumerate(questions, 1):
            async for event in operations.run(Ask(question=question)):
                if isinstance(event, Answer):
                    files[file_name(number, question)] = shown(event)
    return files


def main() -> None:
    """Write the files and drop those of questions that are no longer asked."""
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "answers"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as data:
        files = asyncio.run(answer_all(pathlib.Path(data)))
    for old in set(folder.glob("*.md")) - {folder / name for name in files}:
        old.unlink()
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
