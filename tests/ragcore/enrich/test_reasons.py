"""Why something is lacking is kept with it: until it succeeds or is wanted no more, and without asking anything twice."""

import dataclasses
import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.enrich.asking import MOST_ATTEMPTS
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.passing import enrich
from ragcore.enrich.reasons import LONGEST, NO_ROOM, REFUSED_CONTENT, TOO_LONG, UNKNOWN, mend_of, noted
from ragcore.enrich.rubbish import CUT, DECLINED, NOTHING, PROMPT_BACK
from ragcore.enrich.without import MOST_REASONS, Undone, undone
from ragcore.errors import ModelAuthError, ModelBadOutput, ModelContextTooLong, ModelError, ModelRefused
from ragcore.library import DATABASE, Library
from ragcore.reports import EnrichReport
from ragcore.stores.model_results import ModelResult, ModelResults, Use, of_all
from tests.fakes.chatting import SayingModel
from tests.fakes.libraries import fill, opened
from tests.ragcore.enrich.test_enrich import TEXTS, asker, say

KEYWORDS = EnrichOptions(auto_keywords=2)
GRAPH = EnrichOptions(graph=True)
UNFORESEEN = "unexpected KeyError; see the log, and please report it with the file"
SECRET = "the vault opens with 4711"


def model(*errors: Exception | str, when: str = "") -> SayingModel:
    """Return a model that fails so, in turn, where its material has these words, and does well from then on."""
    left = list(errors)

    def saying(rules: str, material: str) -> str:
        if when not in material or not left:
            return say(rules, material)
        told = left.pop(0)
        if isinstance(told, Exception):
            raise told
        return told

    return SayingModel(saying)


async def run(
    library: Library, model: SayingModel, options: EnrichOptions = KEYWORDS, *, identity: str = "saying"
) -> EnrichReport:
    *_, report = [one async for one in enrich(library, "kb", options, asker(library, model, identity=identity))]
    assert isinstance(report, EnrichReport)
    return report


def stored(folder: pathlib.Path) -> bytes:
    """Return all that the database holds."""
    return b"".join(file.read_bytes() for file in folder.glob(f"{DATABASE}*"))


async def told(library: Library, options: EnrichOptions = KEYWORDS) -> list[tuple[str, bool, dict[str, int]]]:
    """Return by setting whether it is asked again, and the reasons."""
    found = await undone(library, "kb", options)
    return [(one.setting, one.again, {why.reason: why.count for why in one.reasons}) for one in found.without]


async def test_the_reason_stands_after_a_restart_and_goes_with_success(tmp_path: pathlib.Path) -> None:
    """Whatever was wrong with the replies, whoever opens the database is told it, and nothing is asked for it."""

    def bad(rules: str, material: str) -> str:
        if "hotel" in material:
            raise ModelBadOutput("the output was cut at its length limit", raw=f'{{"{SECRET}')
        return "" if "Parental" in material else f"I'm sorry, {SECRET}."

    asked, last = SayingModel(bad), {CUT: 1, DECLINED: 1, NOTHING: 1}
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        for attempt in range(1, MOST_ATTEMPTS + 1):
            report = await run(library, asked, GRAPH)
            assert await told(library, GRAPH) == [("graph", attempt < MOST_ATTEMPTS, last)]
            assert bool(report.without) == (attempt == MOST_ATTEMPTS)
    assert SECRET.encode() not in stored(tmp_path)
    async with opened(tmp_path) as library:
        assert await told(library, GRAPH) == [("graph", False, last)]
        assert (await run(library, asked, GRAPH)).without == report.without
        assert len(asked.asked) == 3 * MOST_ATTEMPTS
        await run(library, SayingModel(lambda rules, material: '{"entities": []}'), GRAPH, identity="another")
        assert await undone(library, "kb", GRAPH) == Undone()


async def test_what_the_endpoint_says_is_kept_and_is_no_attempt(tmp_path: pathlib.Path) -> None:
    """An error between replies is the last reason, and takes none of the attempts away."""
    words = "HTTP 400: no such option (request req_8fa2b91c77de)"
    errors = [ModelError(words)] * (MOST_ATTEMPTS + 1)
    failing = model(errors[0], "", *errors, "", "", when="hotel")
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        for reason in (noted(words), NOTHING):
            await run(library, failing, KEYWORDS)
            assert await told(library) == [("auto_keywords", True, {reason: 1})]
        for _ in range(MOST_ATTEMPTS + 1):
            assert (await run(library, failing, KEYWORDS)).failed
            assert await told(library) == [("auto_keywords", True, {noted(words): 1})]
        await run(library, failing, KEYWORDS)
        assert await told(library) == [("auto_keywords", True, {NOTHING: 1})]
        assert not (await run(library, failing, KEYWORDS)).failed
        assert await told(library) == [("auto_keywords", False, {NOTHING: 1})]


async def test_each_error_is_told_until_what_it_was_about_succeeds(tmp_path: pathlib.Path) -> None:
    """What the endpoint refuses stays so; what nobody foresaw is the whole document's; why a pass ended is its own."""
    errors = {
        "apple": ModelError("HTTP 400: bad"),
        "plum": ModelContextTooLong("HTTP 413: large"),
        "pear": ModelRefused("policy"),
        "fig": KeyError("unforeseen"),
    }

    def failing(rules: str, material: str) -> str:
        for word, error in errors.items():
            if word in material:
                raise error
        return say(rules, material)

    async with opened(tmp_path) as library:
        await fill(library, {word: f"Each {word} is of many kilos." for word in (*errors, "grape")})
        await run(library, SayingModel(failing))
        refused = ("auto_keywords", False, {REFUSED_CONTENT: 1})
        assert await told(library) == [
            refused,
            ("auto_keywords", True, {"HTTP 400: bad": 1, f"{TOO_LONG} (HTTP 413: large)": 1}),
            ("enrichment", True, {UNFORESEEN: 1}),
        ]
        await run(library, model(*[ModelAuthError("HTTP 401: no such key")] * 4))
        assert (await undone(library, "kb", KEYWORDS)).ended == "HTTP 401: no such key"
        await run(library, model())
        assert await told(library) == [refused]
        assert (await undone(library, "kb", KEYWORDS)).ended == ""


async def test_a_window_without_room_is_named(tmp_path: pathlib.Path) -> None:
    """Also where nothing could be asked, each chunk counts once, however often it was tried."""
    small = SayingModel(say)
    small.context_window = 64  # type: ignore[misc]
    options = EnrichOptions(auto_keywords=2, raptor=True)
    async with opened(tmp_path) as library:
        await fill(library, {"long": "".join(f"# Part {n}\n\nMatter {n} is of {n} kilos.\n\n" for n in range(3))})
        for _ in range(2):
            await run(library, small, options)
            assert await told(library, options) == [
                ("auto_keywords", True, {NO_ROOM: 3}),
                ("raptor", True, {NO_ROOM: 1}),
            ]
        assert not small.asked
        await run(library, model(), KEYWORDS)
        assert await told(library) == []


async def test_a_setting_that_is_off_is_not_told_of_and_nothing_is_asked_when_it_is_on_again(
    tmp_path: pathlib.Path,
) -> None:
    bad = SayingModel(lambda rules, material: "" if "hotel" in material else say(rules, material))
    both = EnrichOptions(auto_keywords=2, auto_questions=1)
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        for _ in range(MOST_ATTEMPTS):
            await run(library, bad, both)
        stays = [(name, False, {NOTHING: 1}) for name in ("auto_keywords", "auto_questions")]
        assert await told(library, both) == stays
        assert await told(library) == stays[:1]
        await run(library, bad, KEYWORDS)
        assert await told(library, both) == stays[:1]
        asked = len(bad.asked)
        await run(library, bad, both)
        assert await told(library, both) == stays
        assert len(bad.asked) == asked
        # A document that fails in a way that nobody foresaw was not gone through: what it lacked stands.
        broken = model(*[KeyError("unforeseen")] * 4, when="hotel")
        await run(library, broken, EnrichOptions(auto_keywords=2, auto_questions=2))
        assert await told(library, both) == [*stays, ("enrichment", True, {UNFORESEEN: 1})]


async def test_what_another_model_lacked_is_not_told_beside_this_ones(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        for _ in range(MOST_ATTEMPTS):
            await run(library, SayingModel(lambda rules, material: ""), KEYWORDS)
        assert await told(library) == [("auto_keywords", False, {NOTHING: 3})]
        await run(library, SayingModel(lambda rules, material: "I cannot."), KEYWORDS, identity="another")
        assert await told(library) == [("auto_keywords", True, {DECLINED: 3})]


async def test_what_is_due_to_a_knowledge_base_as_a_whole_goes_with_the_next_pass(tmp_path: pathlib.Path) -> None:
    """What is asked of many documents is asked otherwise once they change: what it lacked before is due no more."""
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        results, options = ModelResults(library.database), EnrichOptions(auto_keywords=2, raptor=True, overview=True)
        for number, attempts in enumerate((-1, 0, 1, MOST_ATTEMPTS)):
            result = ModelResult(key=f"{number}", task="overview", model="m", text="", attempts=attempts, reason="so")
            await results.put(result, Use(owner=of_all("kb"), purpose="enrich"))
        assert sum(one.count for one in (await undone(library, "kb", options)).without) == 4
        await run(library, model(), KEYWORDS)
        ((_, again, reasons),) = await told(library, options)
        assert (again, reasons) == (False, {"so": 2})


async def test_few_reasons_are_told_apart_and_what_nobody_noted_too(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        results = ModelResults(library.database)
        counts = {"": 5, "it is no JSON": 4, "HTTP 400: c": 3, "HTTP 400: b": 2, "HTTP 400: a": 1}
        for reason, count in counts.items():
            for number in range(count):
                one = ModelResult(key=f"{reason}{number}", task="keywords", model="m", text="", attempts=3)
                await results.put(dataclasses.replace(one, reason=reason), Use(owner="s:leave", purpose="enrich"))
        ((_, _, reasons),) = await told(library)
        assert reasons == {UNKNOWN: 5, "it is no JSON": 4, "HTTP 400: c": 3, "other reasons": 3}
        assert len(reasons) == MOST_REASONS + 1
        # What was written once is of no reason.
        await results.put(ModelResult(key="k", task="keywords", model="m", text="a", reason="so"))
        assert (kept := await results.get("k")) is not None
        assert kept.reason == ""


@given(st.text(max_size=200))
def test_a_reason_is_kept_short_on_one_line_and_stays_what_it_is(text: str) -> None:
    kept = noted(text)
    assert len(kept) <= LONGEST
    assert len(kept.splitlines()) <= 1
    assert noted(kept) == kept


@given(st.from_regex(r"req_[0-9][0-9a-z]{11}", fullmatch=True), st.from_regex(r"req_[0-9][0-9a-z]{11}", fullmatch=True))
def test_equal_causes_give_one_reason_whatever_their_number(one: str, other: str) -> None:
    assert noted(f"HTTP 400: no tools ({one})") == noted(f"HTTP 400: no tools ({other})")
    assert "HTTP 400" in noted(f"HTTP 400: {one}")


@pytest.mark.parametrize(
    ("reason", "mend"),
    [
        (NOTHING, "max_tokens"),
        (CUT, "max_tokens"),
        (DECLINED, "model"),
        (PROMPT_BACK, "model"),
        (REFUSED_CONTENT, "model"),
        (f"{TOO_LONG} (HTTP 400: …)", "context_window"),
        ("there is no tag of the set in it with a score of 1 to 10", "model"),
        ("HTTP 418: a teapot", ""),
        (UNKNOWN, ""),
    ],
)
def test_the_setting_to_change_is_named_where_it_is_known(reason: str, mend: str) -> None:
    assert mend in mend_of(reason)
    assert bool(mend) == bool(mend_of(reason))
