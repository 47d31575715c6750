"""The benchmark of what a model makes of a question: its own set can be searched, and its figures follow the model."""

import json
import re
from typing import Any

import pytest

from benchmarks.refining import ASKED, DOCUMENTS, languages
from tests.fakes.chatting import SayingModel


def test_each_question_of_its_own_set_is_about_one_of_its_documents() -> None:
    rows = [line.split("|") for line in ASKED.strip().splitlines()]
    assert all(len(row) == 2 for row in rows)
    assert {name for name, _ in rows} == set(DOCUMENTS)


@pytest.mark.soak
async def test_a_perfect_translation_finds_what_the_question_alone_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    right = {text: DOCUMENTS[name] for name, text in (line.split("|") for line in ASKED.strip().splitlines())}

    def translate(rules: str, material: str) -> str:
        text = re.sub(r"\d+", "", right[material.splitlines()[-1]])  # a number would be an answer, and dropped
        return json.dumps({"translations": {"English": text, "Chinese": text}})

    model: Any = SayingModel(translate)
    await languages(model, 8, 60.0)
    *_, without, with_it = capsys.readouterr().out.strip().splitlines()
    shares = [float(line.split("|")[3]) for line in (without, with_it)]
    assert shares[0] < shares[1] == 1.0
    assert with_it.split("|")[4].strip() == "1.00", "a call a question"
    assert without.split("|")[4].strip() == "0.00"
