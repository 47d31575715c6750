"""Answers without a model on questions of our own: is what the documents answer answered, and the rest told to be missing?

    python -m benchmarks.own_questions [--part mended|held|fresh|unseen|reworded|last|next|kept] [--every N] [--misses]

Asked are the demo's documents and those of a farm in ``judged/farm``, in English, Chinese and German; nothing is downloaded.
``judged/questions.tsv`` says of each question what its answer must hold, ``-`` where the documents have none, and ``~``
before an answer that would have to be worked out from several rows or passages, so that withholding it is right as well.
The questions were written by reading the documents, before the rules that they judge. Of the first 139 each second one was
held out while rules were mended on the others, and its misses were read then. The part *fresh* came later, before the
rules that tell a direct answer from what is only near, which its misses mended further; *unseen* came before that mending.
*reworded* and *last* ask mostly in other words than the documents'; they were written by somebody who knew the documents
alone. The misses of *reworded* were mended on, *last* was measured once, after that; its misses were read then.
*next* and *kept* are every second one each of 160 written in the same way after that: the misses of *next* were mended on,
*kept* was never read, only measured; once its figure showed that a change had lost an answer.
Of most questions that the documents don't answer they hold something near.
"""

import argparse
import asyncio
import csv
import pathlib
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass

from bots.app import open_operations
from bots.requests import Ask, Sync
from bots.settings import load_settings
from bots.settings.model import Settings
from ragcore.citations import markers
from ragcore.types import Answer, Support

HERE = pathlib.Path(__file__).resolve().parent
DEMO = HERE.parent / "examples" / "citebot.toml"
PARTS = ("mended", "held", "fresh", "unseen", "reworded", "last", "next", "kept")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A question; ``right`` is what an answer must hold, "" for none; ``may_withhold`` that none is right as well."""

    part: str
    documents: str
    kind: str
    question: str
    right: str
    may_withhold: bool


def judged_questions() -> list[Judged]:
    with (HERE / "judged" / "questions.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [
        Judged(
            part=row["part"],
            documents=row["documents"],
            kind=row["kind"],
            question=row["question"],
            right=row["right"].lstrip("~-"),
            may_withhold=row["right"].startswith(("~", "-")),
        )
        for row in rows
    ]


VERDICTS = ("right", "wrong", "near, with the answer", "near", "nothing")


def verdict(one: Judged, answer: Answer) -> str:
    """Return which of VERDICTS an answer is; "wrong" is given directly and isn't the answer, "near" is told to be none."""
    holds = bool(one.right) and one.right in markers.strip(answer.raw_text)
    if not answer.abstained:
        return "right" if holds else "wrong"
    if answer.support is Support.NEAREST:
        return "near, with the answer" if holds else "near"
    return "nothing"


def settings_of(documents: str, folder: pathlib.Path) -> Settings:
    """Return the demo's settings, or the same over other documents, with their data in an empty ``folder``."""
    written = DEMO
    if documents != "demo":
        written = folder / "citebot.toml"
        path = (HERE / "judged" / documents).as_posix()
        written.write_text(DEMO.read_text(encoding="utf-8").replace("./documents", path), encoding="utf-8")
    return load_settings(written).model_copy(update={"data_dir": folder / "data"})


async def answers_to(documents: str, questions: list[Judged]) -> list[Answer]:
    answers = []
    with tempfile.TemporaryDirectory() as data:
        async with open_operations(settings_of(documents, pathlib.Path(data))) as operations:
            async for _ in operations.run(Sync()):
                pass
            for one in questions:
                events = [event async for event in operations.run(Ask(question=one.question))]
                answers += [event for event in events if isinstance(event, Answer)]
    return answers


async def table(parts: list[str], *, every: int, misses: bool) -> None:
    found: Counter[tuple[str, bool, str]] = Counter()
    told = []
    for documents in ("demo", "farm"):
        questions = [one for one in judged_questions() if one.documents == documents and one.part in parts]
        for one, answer in zip(questions[::every], await answers_to(documents, questions[::every]), strict=True):
            given = verdict(one, answer)
            found[one.part, one.may_withhold, given] += 1
            if given == "wrong" or (given != "right" and not one.may_withhold):
                told.append(f"{one.part} {one.documents} {one.kind}: {one.question} ({one.right or '-'})")
                told.append(f"    {given}: {answer.raw_text}")
    print("| part | the documents | " + " | ".join(VERDICTS) + " |")
    print("|" + " --- |" * (len(VERDICTS) + 2))
    for part in parts:
        for may_withhold, documents in ((False, "answer"), (True, "don't answer")):
            cells = [found[part, may_withhold, given] for given in VERDICTS]
            print(f"| {part} | {documents} | " + " | ".join(map(str, cells)) + " |")
    if misses:
        print("\n" + "\n".join(told))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, action="append", help="only these questions; default: all")
    parser.add_argument("--every", type=int, default=1, help="only each so manieth question; default: all")
    parser.add_argument("--misses", action="store_true", help="print each miss with what was answered")
    arguments = parser.parse_args()
    asyncio.run(table(arguments.part or list(PARTS), every=arguments.every, misses=arguments.misses))
    return 0


if __name__ == "__main__":
    sys.exit(main())
