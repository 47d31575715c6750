"""What is shown as near to a question: enough of its words or near to it in meaning, and more where little else is sure."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.extractive import ExtractOptions, extract
from ragcore.extractive.directness import is_near
from ragcore.extractive.expectation import Expectation
from ragcore.extractive.matter import weigh_units
from ragcore.extractive.units import units_of
from ragcore.models.minilm import MiniLMEmbedder
from tests.ragcore.extractive.asking import nearest
from tests.ragcore.extractive.test_unanswered import scored

THINGS = ["copper", "kettle", "ladder", "violin", "anchor", "candle", "feather", "saddle", "bucket", "thimble"]
ROOM = scored(
    "The laboratory is kept at 21 degrees Celsius, plus or minus 1.5 degrees, and at 40 to 60 per cent relative humidity. "
    "If the limits are left for more than 20 minutes, work stops and the reason is written into the log book.",
    title="Calibration laboratory: working instruction QW-17",
    headings=("Room conditions",),
)
PHONE = scored("A lost or stolen device is reported to extension 333 within one hour, day or night.")


@given(st.integers(1, 8), st.integers(0, 8), st.randoms(use_true_random=False))
async def test_where_relevance_is_not_sure_half_of_the_words_must_be_met(
    said: int, lacking: int, random: Random
) -> None:
    things = random.sample(THINGS, said)
    others = [f"zeppelin{letter}" for letter in "abcdefgh"[:lacking]]
    asked = f"Who lent the {' and the '.join([*things, *others])}?"
    chunk = scored(f"Here lie {' and '.join(things)}.")
    unsure = await extract(asked, [chunk], None, sure=False)
    sure = await extract(asked, [chunk], None, sure=True)
    assert not unsure.text or unsure == sure
    # What is lacking is rare, and so weighs no less than what is met.
    assert not unsure.text or said >= (said + lacking + 1) / 2


@pytest.mark.parametrize(("lacking", "near"), [(2, True), (3, False), (4, False)])
async def test_where_relevance_is_sure_four_tenths_are_enough(lacking: int, near: bool) -> None:
    others = [f"zeppelin{letter}" for letter in "abcdefgh"[:lacking]]
    asked = f"Who lent the {' and the '.join([*THINGS[:7], *others])}?"  # 0.52, 0.45, 0.39 of it are met, by weight
    chunk = scored(f"Here lie {' and '.join(THINGS[:7])}.")
    assert bool((await extract(asked, [chunk], None, sure=False)).text) is near
    assert bool((await extract(asked, [chunk], None)).text) is (lacking < 4)


async def test_what_is_far_in_meaning_is_not_near_whatever_words_it_shares() -> None:
    asked = "How do I book a meeting room?"
    assert not await nearest(asked, [ROOM], MiniLMEmbedder())
    assert await nearest("How warm is the room of the archive?", [ROOM], MiniLMEmbedder())


async def test_one_sentence_whose_meaning_was_not_asked_for_makes_a_far_one_no_nearer() -> None:
    said = scored("The great hall of the mill is old. It was built by the miller for the hall of the guild.")
    question, options, embedder = "Who may book the great hall?", ExtractOptions(), MiniLMEmbedder()
    units = units_of(said.chunk, 0)
    matter = await weigh_units(question, units, [said], Expectation(question), embedder, options)
    for felt, near in (([0.1, 0.1], False), ([0.1, np.nan], False), ([0.4, np.nan], True), ([np.nan, np.nan], True)):
        assert is_near(question, replace(matter, felt=np.array(felt)), (0, 1), options) is near


async def test_what_is_near_in_meaning_is_near_with_fewer_words_where_its_relevance_is_sure() -> None:
    asked = "My work phone got stolen, whom do I tell?"
    assert await nearest(asked, [PHONE], MiniLMEmbedder())
    assert not await nearest(asked, [PHONE], None)
    assert not (await extract(asked, [PHONE], MiniLMEmbedder(), sure=False)).text
