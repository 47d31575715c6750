"""What a model says of chunks goes live without a gap, is asked once, and is tried again where it failed."""

import asyncio
import dataclasses
import pathlib
from collections.abc import Mapping

import pytest

from ragcore.enrich.asking import MOST_ATTEMPTS, Asker, Call
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.passing import enrich, estimate, fingerprint
from ragcore.errors import ModelAuthError, ModelBadOutput, ModelRefused, ModelUnreachable
from ragcore.library import Library
from ragcore.library.recovery import check
from ragcore.prompts import Prompts
from ragcore.reports import EnrichProgress, EnrichReport
from ragcore.stores.health import IndexState
from ragcore.stores.model_results import ModelResults
from ragcore.stores.together import Together
from ragcore.tokens import offline_tokenizer
from ragcore.types import Chunk
from tests.fakes.chatting import Say, SayingModel
from tests.fakes.libraries import fill, opened

TEXTS = {
    "leave": "# Leave\n\nParental leave lasts 14 weeks.\n\n# Sickness\n\nA doctor's note is due on day four.",
    "travel": "# Hotels\n\nA hotel may cost 120 euros a night.",
}
BOTH = EnrichOptions(auto_keywords=2, auto_questions=1)


def say(rules: str, material: str) -> str:
    """Answer as a good model would, from the material's last line."""
    words = material.splitlines()[-1].rstrip(".").split()
    return f"What about {words[0]} {words[1]}?" if "You write the questions" in rules else f"{words[0]}, {words[-1]}"


def asker(
    library: Library, model: SayingModel, *, identity: str = "saying 0.1", prompts: Prompts | None = None
) -> Asker:
    return Asker(
        model=model,
        identity=identity,
        results=ModelResults(library.database),
        prompts=prompts or Prompts(),
        tokenizer=offline_tokenizer(),
    )


async def run(
    library: Library,
    model: SayingModel,
    options: EnrichOptions = BOTH,
    *,
    identity: str = "saying 0.1",
    **more: Prompts,
) -> EnrichReport:
    *progress, report = [
        event async for event in enrich(library, "kb", options, asker(library, model, identity=identity, **more))
    ]
    assert isinstance(report, EnrichReport)
    assert all(isinstance(one, EnrichProgress) for one in progress)
    assert {health.state for health in await check(library)} == {IndexState.WELL}
    return report


async def chunks(library: Library) -> dict[str, Chunk]:
    return {chunk.text.splitlines()[-1]: chunk for chunk in await library.registry.chunks_of(["s:leave", "s:travel"])}


async def test_each_chunk_gets_what_is_wanted_and_can_be_found_by_it(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        before = await chunks(library)
        model = SayingModel(say)
        report = await run(library, model)
        assert (report.documents, report.chunks, report.failed, report.error) == (2, 3, (), "")
        assert (report.usage.calls, report.usage.prompt_tokens, report.cached) == (6, 600, 0)
        after = await chunks(library)
        assert after["Parental leave lasts 14 weeks."].keywords == ("Parental", "weeks")
        assert after["A hotel may cost 120 euros a night."].questions == ("What about A hotel?",)
        bare = [dataclasses.replace(one, id="", keywords=(), questions=()) for one in after.values()]
        assert bare == [dataclasses.replace(one, id="") for one in before.values()]
        found = await library.keywords.read(lambda reader: reader.statistics("kb", ["about"]))
        assert found.frequencies == (3,)
        assert library.embedder.texts == library.embedder.texts[:3]  # type: ignore[attr-defined]


async def test_nothing_is_asked_twice(tmp_path: pathlib.Path) -> None:
    model = SayingModel(say)
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        await run(library, model)
        generations = {chunk.id for chunk in (await chunks(library)).values()}
        again = await run(library, model)
        assert (again.documents, again.usage.calls, again.cached) == (0, 0, 0)
        assert {chunk.id for chunk in (await chunks(library)).values()} == generations
        # One paragraph changes: its chunk alone is asked about.
        await fill(library, TEXTS | {"leave": TEXTS["leave"].replace("14", "16")})
        assert not (await chunks(library))["Parental leave lasts 16 weeks."].keywords
        changed = await run(library, model)
        assert (changed.documents, changed.usage.calls, changed.cached) == (1, 2, 2)
        assert len(model.asked) == 8


@pytest.mark.soak
async def test_another_option_or_template_or_model_touches_what_it_changes(tmp_path: pathlib.Path) -> None:
    model = SayingModel(say)
    async with opened(tmp_path / "data") as library:
        await fill(library, TEXTS)
        await run(library, model)
        more = await run(library, model, EnrichOptions(auto_keywords=3, auto_questions=1))
        assert (more.usage.calls, more.cached) == (3, 3)
        own = tmp_path / "prompts"
        own.mkdir()
        (own / "questions.j2").write_text(
            "{# inputs: count -#}\nYou write the questions: {{ count }}.", encoding="utf-8"
        )
        mended = await run(library, model, prompts=Prompts(own))
        assert (mended.usage.calls, mended.cached) == (3, 3)
        other = await run(library, model, identity="another")
        assert (other.usage.calls, other.cached) == (6, 0)
        without = await run(library, model, EnrichOptions())
        assert (without.documents, without.usage.calls) == (2, 0)
        assert not any(chunk.keywords or chunk.questions for chunk in (await chunks(library)).values())
        back = await run(library, model)
        assert (back.documents, back.usage.calls, back.cached) == (2, 0, 6)


@pytest.mark.parametrize("reply", ["", "I'm sorry, I can't.", '{"a":', "x" * 50_000])
async def test_what_cannot_be_used_leaves_the_chunk_searchable_and_is_asked_a_few_times(
    tmp_path: pathlib.Path, reply: str
) -> None:
    model = SayingModel(lambda rules, material: reply if "hotel" in material else say(rules, material))
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        for attempt in range(1, MOST_ATTEMPTS):
            report = await run(library, model)
            assert [(one.document_id, one.chunks) for one in report.failed] == [("s:travel", 1)], attempt
            assert not report.without
            assert (await chunks(library))["Parental leave lasts 14 weeks."].keywords
        assert len(await library.registry.chunks_of(["s:travel"])) == 1
        last = await run(library, model)
        assert (last.documents, last.failed) == (1, ())
        assert len(model.asked) == 4 + 2 * MOST_ATTEMPTS
        later = await run(library, model)
        assert later.documents == 0
        assert last.without == later.without
        stays = [(one.setting, one.of, one.count, one.again) for one in last.without]
        assert stays == [(name, "chunk", 1, False) for name in ("auto_keywords", "auto_questions")]
        assert all(why.count == 1 and why.reason and why.mend for one in last.without for why in one.reasons)
        fewer = await run(library, model, EnrichOptions(auto_questions=1))
        assert fewer.without == last.without[1:]
        assert not (await run(library, SayingModel(say), identity="another")).without


async def test_a_refusal_of_one_chunk_is_its_own_and_stands(tmp_path: pathlib.Path) -> None:
    """What the endpoint takes no such content of is told once, and asked again only of another model."""

    def refusing(rules: str, material: str) -> str:
        if "hotel" in material:
            raise ModelRefused("the content filter stopped it")
        return say(rules, material)

    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        model = SayingModel(refusing)
        report = await run(library, model)
        assert [one.document_id for one in report.failed] == ["s:travel"]
        assert "content filter" in report.failed[0].reason
        assert "not asked again" in report.failed[0].reason
        assert [(one.count, one.refused) for one in report.without] == [(1, 1), (1, 1)]
        assert (report.documents, report.usage.calls) == (1, 6)
        foreseen = await estimate(library, "kb", BOTH, asker(library, model))
        assert (foreseen.documents, foreseen.usage.calls, foreseen.cached) == (1, 0, 2)
        again = await run(library, model)
        assert (again.documents, again.usage.calls, again.cached, again.failed) == (1, 0, 2, ())
        assert (await run(library, model)).documents == 0
        assert len(await library.registry.chunks_of(["s:travel"])) == 1
        other = await run(library, SayingModel(say), identity="another")
        assert (other.documents, other.usage.calls) == (2, 6)
        assert (await chunks(library))["A hotel may cost 120 euros a night."].keywords


@pytest.mark.parametrize("error", [ModelUnreachable("away"), ModelAuthError("wrong key")])
async def test_a_model_that_is_away_ends_the_pass_and_loses_nothing(tmp_path: pathlib.Path, error: Exception) -> None:
    answered = 0

    def failing(rules: str, material: str) -> str:
        nonlocal answered
        answered += 1
        if answered > 3:
            raise error
        return say(rules, material)

    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        report = await run(library, SayingModel(failing))
        assert report.error == str(error)
        again = await run(library, SayingModel(say))
        assert again.usage.calls == 3
        assert again.cached == 3


async def test_what_was_said_before_stays_where_a_new_template_fails(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        await run(library, SayingModel(say))
        before = {text: chunk.keywords for text, chunk in (await chunks(library)).items()}
        report = await run(library, SayingModel(lambda rules, material: ""), identity="another")
        assert len(report.failed) == 2
        assert {text: chunk.keywords for text, chunk in (await chunks(library)).items()} == before


async def test_a_document_that_is_replaced_meanwhile_is_not_put_back(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        asked, go_on = asyncio.Event(), asyncio.Event()

        class Slow(SayingModel):
            async def complete(self, messages, *, task):  # type: ignore[no-untyped-def]
                asked.set()
                await go_on.wait()
                return await super().complete(messages, task=task)

        passing = asyncio.create_task(run(library, Slow(say)))
        await asked.wait()
        await fill(library, {"travel": "# Hotels\n\nA hotel may cost 150 euros a night."})
        go_on.set()
        await passing
        assert "A hotel may cost 150 euros a night." in await chunks(library)
        assert len(await library.registry.chunks_of(["s:travel"])) == 1
        report = await run(library, SayingModel(say))
        assert report.documents == 1
        assert (await chunks(library))["A hotel may cost 150 euros a night."].keywords


async def test_a_failure_that_is_on_record_stays(tmp_path: pathlib.Path) -> None:
    """What can't be read anew is told until it can, whatever is added to its old version."""
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        await fill(library, {"travel": b"%PDF-1.7 broken"})
        assert "s:travel" in await library.failures.of_source("s")
        await run(library, SayingModel(say))
        assert "s:travel" in await library.failures.of_source("s")
        assert (await chunks(library))["A hotel may cost 120 euros a night."].keywords


async def test_broken_off_anywhere_it_goes_on_and_asks_nothing_twice(tmp_path: pathlib.Path) -> None:
    texts: Mapping[str, str] = {f"d{n}": f"# Part\n\nMatter {n} is of {n} kilos." for n in range(40)}
    async with opened(tmp_path) as library:
        await fill(library, texts)
        answers: set[tuple[str, str]] = set()
        for stop_after in (1, 5, 20, 30):
            model = SayingModel(say)

            def counted(rules: str, material: str, model: SayingModel = model, stop_after: int = stop_after) -> str:
                if len(model.asked) > stop_after:
                    raise asyncio.CancelledError
                answers.add((rules, material))
                return say(rules, material)

            model.say = counted
            with pytest.raises(asyncio.CancelledError):
                await run(library, model)
        last = SayingModel(say)
        report = await run(library, last)
        assert not report.failed
        assert not answers & set(last.asked)
        assert len(answers) + len(last.asked) == 80


async def test_no_more_calls_than_allowed_are_under_way(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, {f"d{n}": f"# Part\n\nMatter {n} is of {n} kilos." for n in range(30)})
        model = SayingModel(say, at_once=4)
        await run(library, model)
        assert model.most_at_once == 4


async def test_the_cost_is_told_before(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        model = SayingModel(say)
        before = await estimate(library, "kb", BOTH, asker(library, model))
        assert (before.dry_run, before.documents, before.chunks, before.usage.calls, before.cached) == (
            True,
            2,
            3,
            6,
            0,
        )
        assert before.usage.prompt_tokens > 6 * 100
        assert not model.asked
        await run(library, model, EnrichOptions(auto_keywords=2))
        after = await estimate(library, "kb", BOTH, asker(library, model))
        assert (after.usage.calls, after.cached) == (3, 3)


def test_nothing_wanted_has_no_fingerprint() -> None:
    assert fingerprint((), (), None) == ""


_: Say = say


async def test_switched_off_nothing_is_left_of_what_failed_in_part(tmp_path: pathlib.Path) -> None:
    model = SayingModel(lambda rules, material: "" if "You write the questions" in rules else say(rules, material))
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        assert len((await run(library, model)).failed) == 2
        assert all(chunk.keywords for chunk in (await chunks(library)).values())
        assert (await run(library, model, EnrichOptions())).documents == 2
        assert not any(chunk.keywords for chunk in (await chunks(library)).values())
        assert (await run(library, model, EnrichOptions())).documents == 0


async def test_what_the_source_says_meanwhile_stays_said(tmp_path: pathlib.Path) -> None:
    """A version that is written while the model is asked isn't put back: the source may never tell it again."""
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        asked, go_on = asyncio.Event(), asyncio.Event()

        class Slow(SayingModel):
            async def complete(self, messages, *, task):  # type: ignore[no-untyped-def]
                asked.set()
                await go_on.wait()
                return await super().complete(messages, task=task)

        passing = asyncio.create_task(run(library, Slow(say)))
        await asked.wait()
        before = await library.registry.document("s:leave")
        assert before is not None
        await library.staging.switch([], Together(refreshed=(dataclasses.replace(before, version="newer"),)))
        go_on.set()
        assert (await passing).documents == 2
        after = await library.registry.document("s:leave")
        assert after is not None
        assert (after.version, after.generation != before.generation) == ("newer", True)


async def test_equal_chunks_are_asked_about_once(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, {f"copy{n}": "# Leave\n\nParental leave lasts 14 weeks." for n in range(5)})
        model = SayingModel(say)
        before = await estimate(library, "kb", BOTH, asker(library, model))
        report = await run(library, model)
        assert report.usage.calls == len(model.asked) == before.usage.calls
        assert report.usage.calls + report.cached == 10


async def test_a_kept_reply_that_a_stricter_reader_refuses_is_asked_for_again(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        model = SayingModel(say)
        asking = asker(library, model)
        call = Call(template="keywords", inputs={"count": 2}, text="Parental leave lasts 14 weeks.")
        assert await asking.ask(call, str.upper) == "PARENTAL, WEEKS"

        def stricter(reply: str) -> str:
            raise ModelBadOutput("no", raw=reply)

        with pytest.raises(ModelBadOutput, match="asked again"):
            await asking.ask(call, stricter)
        assert await asking.ask(call, stricter) is None
        assert len(model.asked) == MOST_ATTEMPTS
