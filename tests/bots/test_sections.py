"""``toc_enhance`` as an asker sees it: what a chosen section says is cited, and a model that is away costs nothing else."""

import json
import pathlib
import re
import time

import pytest

from bots.requests import Ask, Sync
from ragcore.types import Answer
from tests.bots.handbook import answered, opened, told
from tests.fakes.openai_server import Hang, OpenAIServer, Reply, Request

SETTINGS = """
[llm]
base_url = "{url}"
model = "fake"
[answer]
toc_enhance = true
toc_seconds = {seconds}
top_n = 1
[knowledge_bases.handbook]
contents = {contents}
chunk_tokens = 32
[[sources]]
name = "handbook"
type = "files"
path = "handbook"
"""
VACATION = "Every employee is granted thirty days of vacation a year, of which ten are taken in summer."
LAPSE = "Whatever nobody took by the last of March vanishes, and no money is paid instead of it."
HEADED = f"# Handbook\n\n## Vacation\n\n{VACATION}\n\n## Lapse\n\n{LAPSE}\n"
FILLER = "\n\n".join(
    f"Room {number} holds {number} people and has a door, a window and a lamp." for number in range(12)
)
BARE = f"Vacation\n\n{VACATION}\n\nLapse\n\n{LAPSE}\n\nRooms\n\n{FILLER}\n"
QUESTION = "How many days of vacation is every employee granted a year?"


class Model:
    """Names the lines that stand as titles, chooses the section Lapse, and answers with all that it was given."""

    def __init__(self, *, late: bool = False) -> None:
        self.late = late

    def __call__(self, request: Request) -> Reply | Hang:
        rules = request.texts[0]
        if "table of contents of a document" in rules:
            pieces = re.split(r"(?:^|\n\n)\[(\d+)\]\n", request.texts[-1])[1:]
            found = zip(map(int, pieces[::2]), pieces[1::2], strict=True)
            titles = [(n, line) for n, text in found for line in text.split("\n") if line in ("Vacation", "Lapse")]
            return Reply(text=json.dumps([{"piece": n, "level": 1, "title": title} for n, title in titles]))
        if "You choose which sections" in rules:
            shown = re.search(r"\[(\d+)\] *Lapse", rules)
            said = [{"section": int(shown[1]), "score": 5}] if shown else []
            return Hang() if self.late else Reply(text=json.dumps(said))
        given = re.findall(r"^ID: (\d+)$", "\n".join(request.texts), re.MULTILINE)
        return Reply(text=f"{VACATION} [ID:0]" + (f" {LAPSE} [ID:1]" if "1" in given else ""))


async def ask(home: pathlib.Path, model: Model, text: str, *, contents: bool, seconds: float = 20.0) -> Answer:
    (home / "handbook").mkdir()
    (home / "handbook" / "rules.md").write_text(text, encoding="utf-8")
    async with OpenAIServer(model) as server:
        settings = SETTINGS.format(url=server.base_url, seconds=seconds, contents=str(contents).lower())
        (home / "citebot.toml").write_text(settings, encoding="utf-8")
        async with opened(home) as (operations, _):
            await told(operations, Sync(enrich=True))
            return await answered(operations, Ask(question=QUESTION))


@pytest.mark.parametrize(("text", "contents"), [(HEADED, False), (BARE, True)], ids=["headings", "found"])
async def test_a_chosen_section_is_given_to_the_model_and_cited(
    text: str, contents: bool, tmp_path: pathlib.Path
) -> None:
    answer = await ask(tmp_path, Model(), text, contents=contents)
    assert LAPSE in answer.chunks[1].chunk.text
    assert {citation.chunk_id for citation in answer.citations} == {one.chunk.id for one in answer.chunks[:2]}
    assert answer.usage.calls == 2


@pytest.mark.soak
async def test_a_model_that_does_not_choose_in_time_is_not_waited_for(tmp_path: pathlib.Path) -> None:
    before = time.monotonic()
    answer = await ask(tmp_path, Model(late=True), HEADED, contents=False, seconds=0.3)
    assert [VACATION in one.chunk.text for one in answer.chunks] == [True]
    assert answer.citations
    assert time.monotonic() - before < 60.0
