"""The real discord.py against a local Discord: slash commands and buttons."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bots.discord import DiscordPlatform
from bots.discord import listening as listening_module
from bots.platform import Button, Incoming, Reach
from bots.votes import Side
from bots.whose import Words
from ragcore.errors import PlatformRefused, PlatformUnreachable
from ragcore.types import ConversationKey
from tests.bots.discord.scene import ASKER, CHANNEL, GUILD, THREAD, Scene, peopled, serving
from tests.bots.scene import REFERENCE, view
from tests.fakes.inbox import Kept
from tests.fakes.waiting import until
from tests.servers.discord.world import EPHEMERAL, SUPPRESS_EMBEDS, Json

ALONE = EPHEMERAL | SUPPRESS_EMBEDS

LONG_AGO = datetime.now(UTC) - timedelta(minutes=15)


async def asked(scene: Scene, name: str = "ask", place: int = CHANNEL, **options: object) -> tuple[Json, Incoming]:
    """Let somebody use a command, and wait for its first sign."""
    count = len(scene.inbox.received)
    interaction = await scene.server.command(place, name, **options)
    incoming = (await scene.inbox.wait(count + 1))[-1]
    await until(lambda: scene.server.interactions.of(interaction).answered)
    return interaction, incoming


async def test_the_commands_are_told_once_for_each_changed_set() -> None:
    inbox = Kept()
    async with peopled() as server:
        for _ in range(2):
            async with serving(server, inbox):
                pass
        assert server.state.syncs == 1
        assert [one["name"] for one in server.state.commands] == [
            "ask",
            "research",
            "summarise",
            "search",
            "sources",
            "sync",
            "why",
            "reset",
            "help",
        ]
        ask = server.state.commands[0]
        assert ask["contexts"] == [0, 1]
        assert [(one["name"], one.get("required", False)) for one in ask["options"]] == [
            ("question", True),
            ("knowledge_base", False),
            ("private", False),
        ]
        assert ask["description_localizations"]["zh-CN"] == "就文档内容提问"
        assert ask["options"][0]["description_localizations"]["de"] == "Deine Frage"
        server.state.commands[1]["description"] = "Something older"
        async with serving(server, inbox):
            pass
        assert server.state.syncs == 2


async def test_a_question_by_command_grows_in_its_first_sign(scene: Scene) -> None:
    interaction, incoming = await asked(scene, question="How many days?", locale="de", knowledge_base="handbook")
    assert (incoming.reach, incoming.command, incoming.text) == (Reach.COMMAND, "ask", "How many days?")
    assert incoming.knowledge_bases == ("handbook",)
    assert incoming.asker.language == "de"
    assert incoming.keys == (f"interaction:{interaction['id']}",)
    assert (incoming.conversation.channel, incoming.conversation.thread) == (str(CHANNEL), f"commands {ASKER}")
    assert not incoming.private
    assert incoming.seen_by == {"*", f"discord:{GUILD}", f"discord:{GUILD}/{CHANNEL}"}
    (sign,) = scene.server.answers(CHANNEL)
    assert sign["content"].startswith("Ich durchsuche")
    sent = None
    for text in ("Fi", "Five"):
        part = scene.platform.render_partial(view(text, Button.STOP))
        sent = await scene.platform.show(incoming, part, begun=sent, key="k1")
    first, second = scene.platform.render(view("Five <@8> [days](https://example.org). " * 80, Button.FEEDBACK))[:2]
    sent = await scene.platform.send(incoming, first, begun=sent, key="k1", number=0)
    await scene.platform.send(incoming, second, begun=None, key="k2", number=1)
    answer, rest = scene.server.answers(CHANNEL)
    assert answer["id"] == sent.id == sign["id"]
    assert (answer["content"], rest["content"]) == (first.content, second.content)
    assert rest["nonce"] == "k2"
    assert answer["flags"] & 4
    assert scene.server.state.pings == scene.server.state.previewed == []
    await scene.platform.withdraw(incoming, sent)
    assert [one["id"] for one in scene.server.answers(CHANNEL)] == [rest["id"]]
    # Whoever took it away hasn't taken the answer away: it comes as a message of its own.
    again = await scene.platform.send(incoming, first, begun=None, key="k3", number=0)
    assert again.id == scene.server.answers(CHANNEL)[-1]["id"]


async def test_commands_in_threads_and_direct_messages(scene: Scene) -> None:
    _, inside = await asked(scene, place=THREAD, question="How many?")
    assert inside.conversation.thread == f"thread {THREAD}"
    direct = scene.server.direct(ASKER)
    _, alone = await asked(scene, place=direct.id, question="How many?")
    assert alone.conversation == ConversationKey(platform="discord", channel=str(direct.id))
    assert (alone.private, alone.seen_by) == (True, {"*", f"discord:@{ASKER}"})
    assert scene.server.answers(direct.id)[0]["flags"] & EPHEMERAL == 0


@pytest.mark.parametrize("name", ["search", "sources", "reset", "help"])
async def test_what_nobody_else_needs_is_shown_to_the_asker_alone(scene: Scene, name: str) -> None:
    options = {"question": "leave"} if name == "search" else {}
    interaction, incoming = await asked(scene, name, **options)
    assert (incoming.command, incoming.private) == (name, True)
    (part,) = scene.platform.render(view("There."))
    await scene.platform.send(incoming, part, begun=None, key="k1", number=0)
    await scene.platform.send(incoming, part, begun=None, key="k2", number=1)
    shown = scene.server.interactions.of(interaction)
    assert [(one["content"], one["flags"] & EPHEMERAL) for one in shown.messages.values()] == [
        ("There.", EPHEMERAL),
        ("There.", EPHEMERAL),
    ]
    assert scene.server.answers(CHANNEL) == []


@pytest.mark.parametrize("name", ["ask", "research"])
async def test_a_blank_question_asks_for_help(scene: Scene, name: str) -> None:
    _, incoming = await asked(scene, name, question="  ")
    assert (incoming.command, incoming.private) == ("help", True)


async def test_the_claim_stands_before_the_first_sign(scene: Scene) -> None:
    scene.inbox.failing = 1
    interaction = await scene.server.command(CHANNEL, "ask", question="How many?")
    await until(lambda: scene.server.interactions.of(interaction).answered)
    assert len(scene.inbox.received) == 1


async def test_a_slow_database_does_not_cost_the_first_sign(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening_module, "CLAIM_SECONDS", 0.05)
    scene.inbox.failing = 2
    interaction = await scene.server.command(CHANNEL, "ask", question="How many?")
    await until(lambda: scene.server.interactions.of(interaction).answered)
    assert scene.inbox.received == []
    await scene.inbox.wait()


async def test_what_came_twice_is_not_answered_twice(scene: Scene) -> None:
    interaction, incoming = await asked(scene, question="How many?")
    await scene.server.tell("INTERACTION_CREATE", interaction)
    await until(lambda: scene.inbox.again)
    (part,) = scene.platform.render(view("Five."))
    await scene.platform.send(incoming, part, begun=None, key="k1", number=0)
    assert [one["content"] for one in scene.server.answers(CHANNEL)] == ["Five."]


async def test_an_interaction_that_was_answered_too_late_is_answered_by_a_message(scene: Scene) -> None:
    scene.server.interactions.seconds = -1.0
    await scene.server.command(CHANNEL, "ask", question="How many?")
    (incoming,) = await scene.inbox.wait()
    (part,) = scene.platform.render(view("Five."))
    begun = await scene.platform.show(incoming, part, begun=None, key="k1")
    await scene.platform.send(incoming, part, begun=begun, key="k1", number=0)
    assert [one["content"] for one in scene.server.answers(CHANNEL)] == ["Five."]
    assert ("POST /interactions/{}/{}/callback", 10062) in scene.server.state.refused


async def test_a_token_that_dies_in_mid_answer_leaves_one_whole_answer(scene: Scene) -> None:
    interaction, incoming = await asked(scene, question="How many?")
    begun = await scene.platform.show(incoming, scene.platform.render_partial(view("Fi")), begun=None, key="k1")
    scene.server.interactions.expire(interaction)
    begun = await scene.platform.show(incoming, scene.platform.render_partial(view("Five")), begun=begun, key="k1")
    (part,) = scene.platform.render(view("Five."))
    await scene.platform.send(incoming, part, begun=begun, key="k1", number=0)
    assert [one["content"] for one in scene.server.answers(CHANNEL)] == ["Five."]
    assert any(code == 50027 for _, code in scene.server.state.refused)


async def test_after_a_restart_the_first_sign_is_filled(scene: Scene) -> None:
    _, incoming = await asked(scene, question="How many?")
    async with serving(scene.server, Kept()) as other:
        (part,) = other.render(view("Five."))
        sent = await other.send(incoming, part, begun=None, key="k1", number=0)
        (answer,) = scene.server.answers(CHANNEL)
        assert (answer["id"], answer["content"]) == (sent.id, "Five.")
        late = replace(incoming, sent_at=LONG_AGO)
        await other.send(late, part, begun=None, key="k2", number=0)
    assert len(scene.server.answers(CHANNEL)) == 2


async def test_what_was_asked_in_private_is_never_told_to_the_channel(scene: Scene) -> None:
    interaction, incoming = await asked(scene, question="How many?", private=True)
    assert incoming.private
    scene.server.interactions.expire(interaction)
    (part,) = scene.platform.render(view("Five."))
    with pytest.raises(PlatformRefused):
        await scene.platform.show(incoming, part, begun=None, key="k1")
    await scene.platform.send(incoming, part, begun=None, key="k1", number=0)
    assert scene.server.answers(CHANNEL) == []
    assert [one["content"] for one in scene.server.answers(scene.server.direct(ASKER).id)] == ["Five."]


async def test_a_channel_that_is_closed_to_the_bot_gets_further_parts_by_the_token(scene: Scene) -> None:
    _, incoming = await asked(scene, question="How many?")
    scene.server.state.channels[CHANNEL].closed = 50001
    (part,) = scene.platform.render(view("Five."))
    await scene.platform.send(incoming, part, begun=None, key="k1", number=0)
    await scene.platform.send(incoming, part, begun=None, key="k2", number=1)
    assert [one["content"] for one in scene.server.answers(CHANNEL)] == ["Five.", "Five."]


async def test_knowledge_bases_are_completed_from_what_may_be_read(scene: Scene) -> None:
    scene.inbox.bases = ("handbook", "hr", "wiki")
    typed = await scene.server.complete(CHANNEL, "ask", "knowledge_base", "H")
    one = scene.server.interactions.of(typed)
    await until(lambda: one.answered)
    assert [choice["value"] for choice in one.completions] == ["handbook", "hr"]
    assert scene.inbox.completed_for[-1] == {"*", f"discord:{GUILD}", f"discord:{GUILD}/{CHANNEL}"}
    await scene.server.complete(THREAD, "search", "knowledge_base", "h")
    await until(lambda: len(scene.inbox.completed_in) == 2)
    here = ConversationKey(platform="discord", workspace=str(GUILD), channel=str(CHANNEL))
    assert scene.inbox.completed_in == [here, here], "a thread is narrowed as its channel is"
    alone = await scene.server.complete(scene.server.direct(ASKER), "ask", "knowledge_base", "")
    await until(lambda: scene.server.interactions.of(alone).answered)
    assert f"discord:@{ASKER}" in scene.inbox.completed_for[-1]


async def test_names_of_sources_are_completed_for_admins(scene: Scene) -> None:
    scene.inbox.syncable = {f"discord:@{ASKER}": ("handbook", "wiki")}

    async def completed(typed: str) -> list[str]:
        one = scene.server.interactions.of(await scene.server.complete(CHANNEL, "sync", "source", typed))
        await until(lambda: one.answered)
        return [choice["value"] for choice in one.completions]

    assert await completed("") == ["handbook", "wiki"]
    assert await completed("HAND") == ["handbook"]
    assert await completed("wiki, ha") == ["wiki, handbook"]
    assert await completed("wiki,") == ["wiki, handbook"]
    scene.inbox.syncable = {}
    assert await completed("") == []
    _, incoming = await asked(scene, "sync", source="wiki, handbook")
    assert (incoming.command, incoming.text) == ("sync", "wiki, handbook")


async def answered(scene: Scene, *buttons: Button, prompts: tuple[str, ...] = ()) -> Json:
    """Return an answer that stands in the channel."""
    await scene.ask()
    (part,) = scene.platform.render(view("Five.", *buttons, prompts=prompts))
    await scene.platform.send(scene.inbox.received[-1], part, begun=None, key="k1", number=0)
    return scene.server.answers(CHANNEL)[-1]


async def pressed(scene: Scene, message: Json, custom_id: str, **more: object) -> Json:
    """Press a button, and return the message that came of it (or the interaction's messages' last one)."""
    interaction = await scene.server.press(message, custom_id, **more)
    one = scene.server.interactions.of(interaction)
    await until(lambda: one.answered)
    return interaction


def shown(scene: Scene, interaction: Json) -> list[Json]:
    return list(scene.server.interactions.of(interaction).messages.values())


async def test_votes_and_their_reasons(scene: Scene) -> None:
    answer = await answered(scene, Button.FEEDBACK)
    thanked = await pressed(scene, answer, f"cb:up:{REFERENCE}:")
    assert shown(scene, thanked)[0]["flags"] == ALONE
    why = await pressed(scene, answer, f"cb:down:{REFERENCE}:", user=7, locale="de")
    (question,) = shown(scene, why)
    assert question["flags"] == ALONE
    assert question["content"] == "Was war falsch?"
    await pressed(scene, question, f"cb:why:{REFERENCE}:wrong", user=7)
    assert (question["components"], question["flags"]) == ([], ALONE)
    votes: list[tuple[str, Side, str]] = [(vote.voter, vote.side, vote.reason) for vote in scene.inbox.votes]
    assert votes == [
        (f"discord:@{ASKER}", "up", ""),
        ("discord:@7", "down", ""),
        ("discord:@7", "down", "wrong"),
    ]
    assert answer["components"], "what the channel sees has not changed"


async def test_buttons_from_before_a_restart(scene: Scene) -> None:
    answer = await answered(scene, Button.FEEDBACK)
    inbox = Kept()
    async with serving(scene.server, inbox):
        await scene.server.press(answer, f"cb:up:{REFERENCE}:")
        await until(lambda: inbox.votes)


async def test_quotes_are_shown_to_whoever_asks_for_them(scene: Scene) -> None:
    answer = await answered(scene, Button.QUOTES)
    scene.server.join(GUILD, ASKER)
    gone = await pressed(scene, answer, f"cb:quotes:{REFERENCE}:", user=7)
    await until(lambda: "no longer at hand" in shown(scene, gone)[0]["content"])
    scene.inbox.quoted[REFERENCE] = view("> Five days. " * 300)
    quotes = await pressed(scene, answer, f"cb:quotes:{REFERENCE}:")
    await until(lambda: len(shown(scene, quotes)) > 1)
    assert all(one["flags"] & EPHEMERAL for one in shown(scene, quotes))
    assert scene.inbox.shown_to[-1] == {
        "*",
        f"discord:@{ASKER}",
        f"discord:{GUILD}",
        f"discord:{GUILD}/{CHANNEL}",
    }
    assert len(scene.server.answers(CHANNEL)) == 1


@pytest.mark.parametrize(("act", "count"), [("up", 1), ("down", 1), ("quotes", 1), ("stop", 0), ("delete", 0)])
async def test_two_quick_presses_do_what_one_does(scene: Scene, act: str, count: int) -> None:
    answer = await answered(scene, Button.FEEDBACK, Button.QUOTES, Button.STOP, Button.DELETE)
    scene.inbox.quoted[REFERENCE] = view("> Five days.")
    presses = [await scene.server.press(answer, f"cb:{act}:{REFERENCE}:") for _ in range(2)]
    await until(lambda: all(scene.server.interactions.of(one).answered for one in presses))
    told = [one for press in presses for one in shown(scene, press) if one is not answer]
    assert len(told) == count
    inbox = scene.inbox
    await until(lambda: [*inbox.votes, *inbox.shown_to, *inbox.stopped, *inbox.withdrawn])
    assert len([*inbox.votes, *inbox.shown_to, *inbox.stopped, *inbox.withdrawn]) == 1


async def test_what_one_sees_is_shared_with_those_who_may_read_it(scene: Scene) -> None:
    interaction, incoming = await asked(scene, question="How many?", private=True)
    (part,) = scene.platform.render(view("Five.", Button.SHARE))
    await scene.platform.send(incoming, part, begun=None, key="k1", number=0)
    (answer,) = shown(scene, interaction)
    refused = await pressed(scene, answer, f"cb:share:{REFERENCE}:")
    await until(lambda: shown(scene, refused)[0]["content"] != "…")
    assert scene.server.answers(CHANNEL) == []
    scene.inbox.quoted[REFERENCE] = view("Five.")
    await pressed(scene, answer, f"cb:share:{REFERENCE}:")
    await until(lambda: scene.server.answers(CHANNEL))
    (public,) = scene.server.answers(CHANNEL)
    assert public["content"] == "Five."
    assert public["flags"] & EPHEMERAL == 0
    assert scene.inbox.shown_to[-1] == {"*", f"discord:{GUILD}", f"discord:{GUILD}/{CHANNEL}"}


async def test_stop_and_delete(scene: Scene) -> None:
    answer = await answered(scene, Button.STOP, Button.DELETE)
    await pressed(scene, answer, f"cb:stop:{REFERENCE}:")
    await pressed(scene, answer, f"cb:delete:{REFERENCE}:", user=7)
    await until(lambda: scene.inbox.withdrawn)
    assert (scene.inbox.stopped, scene.inbox.withdrawn) == ([(REFERENCE, str(ASKER))], [(REFERENCE, "7")])


async def test_a_suggested_question_is_asked_by_its_button(scene: Scene) -> None:
    answer = await answered(scene, prompts=("What is new?",))
    await pressed(scene, answer, f"cb:ask:{REFERENCE}:0", user=7)
    incoming = (await scene.inbox.wait(2))[-1]
    assert (incoming.text, incoming.command, incoming.asker.id) == ("What is new?", "ask", "7")
    assert (incoming.goes_on, incoming.words) == (REFERENCE, Words.OFFERED)


async def test_a_question_is_researched_by_the_button_under_its_answer(scene: Scene) -> None:
    answer = await answered(scene, Button.FEEDBACK, Button.QUOTES, Button.SHARE, Button.DELETE, Button.RESEARCH)
    assert [len(row["components"]) for row in answer["components"]] == [5, 1]
    await pressed(scene, answer, f"cb:research:{REFERENCE}:", user=7)
    incoming = (await scene.inbox.wait(2))[-1]
    assert (incoming.text, incoming.command, incoming.asker.id) == ("", "research", "7")
    assert (incoming.goes_on, incoming.private) == (REFERENCE, False)


async def test_a_button_that_can_not_be_served_says_so(scene: Scene) -> None:
    answer = await answered(scene, Button.FEEDBACK)
    scene.inbox.vote_fails = True
    told = await pressed(scene, answer, f"cb:up:{REFERENCE}:")
    (excuse,) = shown(scene, told)
    assert "went wrong" in excuse["content"]
    assert excuse["flags"] == ALONE


async def test_unconnected_it_says_so() -> None:
    platform = DiscordPlatform(token="t")
    with pytest.raises(PlatformUnreachable, match="not connected"):
        await platform.tell("discord:@1", "a fault")
