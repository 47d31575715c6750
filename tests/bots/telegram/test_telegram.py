"""The real aiogram against a local Bot API server."""

import json
import traceback

import aiohttp
import pytest

from bots.platform import Attachment, Button, Reach, Side
from bots.telegram import TelegramPlatform, Webhook
from bots.whose import Words
from ragcore.errors import (
    MessageGone,
    PlatformAuthError,
    PlatformRateLimited,
    PlatformRefused,
    PlatformUnreachable,
)
from ragcore.types import ConversationKey
from tests.bots.scene import view
from tests.bots.telegram.scene import ASKER, GROUP, Scene, serving
from tests.fakes.inbox import Kept
from tests.fakes.ports import free_port
from tests.fakes.waiting import until
from tests.servers.faults import Fault
from tests.servers.telegram import telegram_server

RESTRICTED = dict.fromkeys(
    (
        "can_send_messages", "can_send_audios", "can_send_documents", "can_send_photos", "can_send_videos",
        "can_send_video_notes", "can_send_voice_notes", "can_send_polls", "can_send_other_messages",
        "can_add_web_page_previews", "can_change_info", "can_invite_users", "can_pin_messages", "can_manage_topics",
        "can_react_to_messages", "can_edit_tag",
    ),
    False,
) | {"until_date": 0}  # fmt: skip


async def test_a_private_message_becomes_a_question(scene: Scene) -> None:
    said = scene.server.say(ASKER, "How many days?", language="de")
    (incoming,) = await scene.inbox.wait()
    assert incoming.text == "How many days?"
    assert incoming.reach is Reach.DIRECT
    assert incoming.private
    assert incoming.keys == (f"message:{ASKER}/{said['message_id']}",)
    assert incoming.asker.language == "de"
    assert incoming.seen_by == {"*", f"telegram:@{ASKER}"}
    assert incoming.conversation == ConversationKey(platform="telegram", channel=str(ASKER))


@pytest.mark.parametrize(
    ("text", "reach", "command", "left"),
    [
        ("@citebot_bot how many days?", Reach.MENTION, None, "how many days?"),
        ("🎉 hey @citebot_bot, how many?", Reach.MENTION, None, "🎉 hey , how many?"),
        ("/ask@citebot_bot how many?", Reach.COMMAND, "ask", "how many?"),
        ("/search leave", Reach.COMMAND, "search", "leave"),
        ("/sources", Reach.COMMAND, "sources", ""),
        ("/unknown@citebot_bot", Reach.COMMAND, "help", ""),
        ("/start", Reach.COMMAND, "help", ""),
        ("/ask", Reach.COMMAND, "help", ""),
        ("/ask@citebot_bot", Reach.COMMAND, "help", ""),
    ],
)
async def test_what_a_group_sends_us(scene: Scene, text: str, reach: Reach, command: str | None, left: str) -> None:
    said = scene.server.say(GROUP, text)
    (incoming,) = await scene.inbox.wait()
    assert (incoming.reach, incoming.command, incoming.text) == (reach, command, left)
    assert not incoming.private
    assert incoming.seen_by == {"*", f"telegram:{GROUP}"}
    assert incoming.conversation.thread == f"reply {said['message_id']}"


async def test_what_is_not_for_us_never_reaches_the_inbox(scene: Scene) -> None:
    for text in ("/ask@other_bot what?", "/start@other_bot", "/roll 6"):
        scene.server.say(GROUP, text)
    scene.server.say(ASKER, "", new_chat_members=[{"id": 7, "is_bot": False, "first_name": "x"}])
    scene.server.say(ASKER, "last")
    assert [incoming.text for incoming in await scene.inbox.wait()] == ["last"]
    assert scene.server.answers(GROUP) == [], "nor is anybody greeted"


@pytest.mark.parametrize("text", ["/ask", "/unknown"])
async def test_a_command_that_asks_nothing_is_answered_with_help(scene: Scene, text: str) -> None:
    scene.server.say(ASKER, text)
    (incoming,) = await scene.inbox.wait()
    assert (incoming.command, incoming.reach, incoming.text) == ("help", Reach.COMMAND, "")


async def test_an_edit_has_the_names_of_its_message(scene: Scene) -> None:
    said = scene.server.say(ASKER, "How many dais?")
    await scene.inbox.wait()
    scene.server.edit(said, "How many days?")
    first, second = await scene.inbox.wait(2)
    assert second.edited_at is not None
    assert first.message == second.message
    assert first.keys == second.keys


async def test_a_reply_to_an_answer_goes_on_with_its_conversation(scene: Scene) -> None:
    scene.server.say(GROUP, "@citebot_bot how many?")
    (incoming,) = await scene.inbox.wait()
    (part,) = scene.platform.render(view("Five.", Button.FEEDBACK))
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    (answer,) = scene.server.answers(GROUP)
    assert answer["reply_to_message"]["message_id"] == int(incoming.message)
    scene.server.say(GROUP, "and next year?", reply_to_message=answer)
    _, second = await scene.inbox.wait(2)
    assert second.reach is Reach.REPLY
    assert second.goes_on == "0123abcd"


async def test_a_message_that_is_passed_on_has_the_words_of_another(scene: Scene) -> None:
    origin = {"type": "hidden_user", "date": 1, "sender_user_name": "Ben"}
    scene.server.say(ASKER, "How many days?", forward_origin=origin)
    scene.server.say(ASKER, "And weeks?")
    passed_on, own = await scene.inbox.wait(2)
    assert (passed_on.words, own.words) == (Words.ANOTHERS, Words.OWN)


async def test_a_private_question_that_is_not_right_above_is_replied_to(scene: Scene) -> None:
    asked = [scene.server.say(ASKER, text) for text in ("How many days?", "And weeks?")]
    received = await scene.inbox.wait(2)
    for number, incoming in enumerate(received):
        (part,) = scene.platform.render(view(f"{number}."))
        await scene.platform.send(incoming, part, begun=None, key=f"k{number}", number=0)
    replied = [one["reply_to_message"]["message_id"] for one in scene.server.answers(ASKER)]
    assert replied == [one["message_id"] for one in asked]
    scene.server.say(ASKER, "And months?")
    third = (await scene.inbox.wait(3))[-1]
    await scene.platform.send(third, scene.platform.render(view("2."))[0], begun=None, key="k2", number=0)
    assert "reply_to_message" not in scene.server.answers(ASKER)[-1]


async def test_a_topic_is_a_conversation_and_is_answered_in(scene: Scene) -> None:
    scene.server.say(GROUP, "@citebot_bot how many?", message_thread_id=9, is_topic_message=True)
    (incoming,) = await scene.inbox.wait()
    assert incoming.conversation.thread == "topic 9"
    (part,) = scene.platform.render(view("Five."))
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    assert scene.server.answers(GROUP)[0]["message_thread_id"] == 9
    assert scene.platform.manner(incoming).notice == "mention_needed"


async def test_a_draft_grows_in_a_private_chat_and_the_answer_takes_its_place(scene: Scene) -> None:
    scene.server.say(ASKER, "How many?")
    (incoming,) = await scene.inbox.wait()
    assert scene.platform.manner(incoming).streaming == "draft"
    sent = None
    for text in ("Fi", "Five d", "Five **days**"):
        sent = await scene.platform.show(incoming, scene.platform.render_partial(view(text)), begun=sent, key="k")
        shown = scene.server.draft(ASKER)
        assert shown is not None
        assert shown.can_stop
        assert shown.text == text.replace("*", "")
    (part,) = scene.platform.render(view("Five **days**.", Button.FEEDBACK))
    await scene.platform.send(incoming, part, begun=sent, key="k", number=0)
    assert scene.server.draft(ASKER) is None
    (answer,) = scene.server.answers(ASKER)
    assert answer["text"] == "Five days."
    assert answer["link_preview_options"] == {"is_disabled": True}


async def test_a_message_grows_in_a_group_and_is_one_message(scene: Scene) -> None:
    scene.server.say(GROUP, "@citebot_bot how many?")
    (incoming,) = await scene.inbox.wait()
    sent = None
    for text in ("Fi", "Five d"):
        sent = await scene.platform.show(incoming, scene.platform.render_partial(view(text)), begun=sent, key="k")
    (part,) = scene.platform.render(view("Five d"))
    again = await scene.platform.send(incoming, part, begun=sent, key="k", number=0)
    assert again == sent, "what says the same already is left alone"
    assert [answer["text"] for answer in scene.server.answers(GROUP)] == ["Five d"]
    assert sent is not None
    await scene.platform.withdraw(incoming, sent)
    await scene.platform.withdraw(incoming, sent)
    assert scene.server.answers(GROUP) == []


async def test_buttons(scene: Scene) -> None:
    scene.server.say(GROUP, "@citebot_bot how many?")
    (incoming,) = await scene.inbox.wait()
    (part,) = scene.platform.render(view("Five.", Button.FEEDBACK, Button.QUOTES, Button.DELETE))
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    (answer,) = scene.server.answers(GROUP)
    before = json.dumps(answer["reply_markup"])
    await pressed(scene, answer, "cb:down:0123abcd:")
    assert len(answer["reply_markup"]["inline_keyboard"]) > 1, "it asks why"
    await pressed(scene, answer, "cb:why:0123abcd:wrong")
    assert json.dumps(answer["reply_markup"]) == before
    await pressed(scene, answer, "cb:up:0123abcd:")
    sides: list[tuple[Side, str]] = [(vote.side, vote.reason) for vote in scene.inbox.votes]
    assert sides == [("down", ""), ("down", "wrong"), ("up", "")]
    await pressed(scene, answer, "cb:quotes:0123abcd:", user=43)
    assert scene.server.callback_answers[-1]["text"]
    scene.inbox.quoted["0123abcd"] = view("> Five days.")
    await pressed(scene, answer, "cb:quotes:0123abcd:")
    assert scene.server.answers(GROUP)[-1]["reply_to_message"]["message_id"] == answer["message_id"]
    await pressed(scene, answer, "cb:delete:0123abcd:")
    assert scene.inbox.withdrawn == [("0123abcd", str(ASKER))]


async def pressed(scene: Scene, message: dict[str, object], data: str, *, user: int = ASKER) -> None:
    """Press and wait until the client's spinner has stopped."""
    count = len(scene.server.callback_answers)
    scene.server.press(message, data, user=user)
    await until(lambda: len(scene.server.callback_answers) > count)


async def test_a_suggested_question_is_asked_by_its_button(scene: Scene) -> None:
    scene.server.say(ASKER, "/start")
    (opened,) = await scene.inbox.wait()
    assert (opened.command, opened.reach, opened.text) == ("start", Reach.COMMAND, "")
    (part,) = scene.platform.render(view("Hello.", prompts=("What is new?",)))
    await scene.platform.send(opened, part, begun=None, key="k", number=0)
    (greeting,) = scene.server.answers(ASKER)
    await pressed(scene, greeting, "cb:ask:0123abcd:0")
    _, incoming = await scene.inbox.wait(2)
    assert (incoming.text, incoming.reach) == ("What is new?", Reach.DIRECT)


async def test_the_stop_button_of_a_draft(scene: Scene) -> None:
    scene.server.say(ASKER, "How many?")
    (incoming,) = await scene.inbox.wait()
    sent = await scene.platform.show(incoming, scene.platform.render_partial(view("Fi")), begun=None, key="k")
    scene.server.press_stop(ASKER, int(sent.id))
    await until(lambda: scene.inbox.stopped)
    assert scene.inbox.stopped == [(incoming.conversation, str(ASKER))]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(status=429, wait=7), PlatformRateLimited),
        (Fault(status=500), PlatformUnreachable),
        (Fault(status=0), PlatformUnreachable),
        (Fault(status=403), MessageGone),
        (Fault(status=400, error="Bad Request: chat not found"), MessageGone),
        (Fault(status=400, error="Bad Request: message is too long"), PlatformRefused),
    ],
)
async def test_errors_are_told_apart(scene: Scene, fault: Fault, error: type[Exception]) -> None:
    scene.server.say(ASKER, "How many?")
    (incoming,) = await scene.inbox.wait()
    scene.server.faults.add("sendMessage", fault)
    (part,) = scene.platform.render(view("Five."))
    with pytest.raises(error) as caught:
        await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    if isinstance(caught.value, PlatformRateLimited):
        assert caught.value.retry_after == 7
    assert scene.server.token not in str(caught.value)


async def test_an_update_is_confirmed_only_when_it_is_claimed(scene: Scene) -> None:
    scene.inbox.failing = 2
    scene.server.say(ASKER, "first")
    scene.server.say(ASKER, "second")
    assert [incoming.text for incoming in await scene.inbox.wait(2)] == ["first", "second"]


async def test_what_came_while_the_bot_was_down_and_what_comes_again() -> None:
    inbox = Kept()
    async with telegram_server() as server:
        server.say(ASKER, "asked while down")
        async with serving(server, inbox):
            await inbox.wait()
        async with serving(server, inbox):
            server.say(ASKER, "and now")
            texts = [incoming.text for incoming in await inbox.wait(2)]
    assert texts == ["asked while down", "and now"]


async def test_members_of_a_group_read_in_private_what_the_group_reads(scene: Scene) -> None:
    scene.server.say(ASKER, "How many?")
    (incoming,) = await scene.inbox.wait()
    assert await scene.platform.readers(incoming) == incoming.seen_by
    scene.server.chat(GROUP).members[7] = "member"
    scene.server.say(7, "How many?", user=7)
    _, other = await scene.inbox.wait(2)
    assert await scene.platform.readers(other) == other.seen_by | {f"telegram:{GROUP}"}
    calls = scene.server.count("getChatMember")
    await scene.platform.readers(other)
    assert scene.server.count("getChatMember") == calls, "remembered for five minutes"


@pytest.mark.parametrize(
    ("status", "more", "inside"),
    [
        ("creator", {"is_anonymous": False}, True),
        ("member", {}, True),
        ("left", {}, False),
        ("kicked", {"until_date": 0}, False),
        ("restricted", {"is_member": True, **RESTRICTED}, True),
        ("restricted", {"is_member": False, **RESTRICTED}, False),
    ],
)
async def test_who_has_left_a_group_reads_no_more_what_it_reads(
    status: str, more: dict[str, object], inside: bool, scene: Scene
) -> None:
    scene.server.chat(GROUP).members[7] = status
    scene.server.chat(GROUP).member_facts[7] = more
    scene.server.say(7, "How many?", user=7)
    (incoming,) = await scene.inbox.wait()
    assert (f"telegram:{GROUP}" in await scene.platform.readers(incoming)) == inside


@pytest.mark.parametrize(("where", "told"), [(7, {"telegram:@7", f"telegram:{GROUP}"}), (-1002, {"telegram:-1002"})])
async def test_passages_are_shown_to_those_who_see_them(where: int, told: set[str], scene: Scene) -> None:
    scene.server.chat(GROUP).members[7] = "member"
    scene.server.say(where, "@citebot_bot how many?", user=7)
    (incoming,) = await scene.inbox.wait()
    (part,) = scene.platform.render(view("Five.", Button.QUOTES))
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    scene.server.press(scene.server.answers(where)[-1], "cb:quotes:0123abcd:", user=7)
    await until(lambda: scene.inbox.shown_to)
    assert scene.inbox.shown_to == [{"*"} | told]


async def test_a_file_beside_a_question(scene: Scene) -> None:
    scene.server.files["f1"] = b"some text"
    file = {"file_id": "f1", "file_unique_id": "u", "file_name": "a.txt", "mime_type": "text/plain", "file_size": 9}
    scene.server.say(ASKER, "", document=file, caption="What is in it?")
    (incoming,) = await scene.inbox.wait()
    assert incoming.text == "What is in it?"
    assert incoming.attachments == (Attachment(id="f1", name="a.txt", media_type="text/plain", size=9),)
    assert await scene.platform.fetch(incoming, incoming.attachments[0], limit=100) == b"some text"
    with pytest.raises(PlatformRefused):
        await scene.platform.fetch(incoming, incoming.attachments[0], limit=3)


@pytest.mark.parametrize("fault", [Fault(status=404), Fault(status=502), Fault(status=0)])
async def test_a_file_that_does_not_come_is_an_error_of_ours_without_the_token(scene: Scene, fault: Fault) -> None:
    scene.server.files["f1"] = b"some text"
    scene.server.say(ASKER, "What is in it?")
    (incoming,) = await scene.inbox.wait()
    scene.server.faults.add("file", fault, times=2)  # a dropped connection is tried once more by the library
    with pytest.raises(PlatformUnreachable) as caught:
        await scene.platform.fetch(incoming, Attachment(id="f1", name="a.txt"), limit=100)
    scene.server.faults.clear()
    assert scene.server.token not in "".join(traceback.format_exception(caught.value))
    assert await scene.platform.fetch(incoming, Attachment(id="f1", name="a.txt"), limit=9) == b"some text"


async def test_a_file_of_unknown_size_is_read_no_further_than_it_may_be(scene: Scene) -> None:
    scene.server.files["f1"], scene.server.tells_sizes = b"some text", False
    scene.server.say(ASKER, "What is in it?")
    (incoming,) = await scene.inbox.wait()
    assert await scene.platform.fetch(incoming, Attachment(id="f1", name="a.txt"), limit=9) == b"some text"
    with pytest.raises(PlatformRefused, match="larger than 8 bytes"):
        await scene.platform.fetch(incoming, Attachment(id="f1", name="a.txt"), limit=8)


async def test_the_message_that_was_replied_to_is_the_thread(scene: Scene) -> None:
    other = scene.server.say(GROUP, "We get 25 days.", user=8)
    scene.server.say(GROUP, "@citebot_bot is that right?", reply_to_message=other)
    (incoming,) = await scene.inbox.wait()
    assert [(m.text, m.author) for m in await scene.platform.thread(incoming, limit=5)] == [
        ("We get 25 days.", "User 8")
    ]


async def test_an_admin_is_told_in_private(scene: Scene) -> None:
    scene.server.chat(99)
    await scene.platform.tell("telegram:@99", "a *fault*")
    assert scene.server.answers(99)[0]["text"] == "a fault"


async def test_a_refused_token_says_what_to_mend() -> None:
    async with telegram_server() as server:
        platform = TelegramPlatform(token="123456:WRONG", api_url=server.url)
        with pytest.raises(PlatformAuthError, match="TELEGRAM_BOT_TOKEN"):
            await platform.serve(Kept())
    with pytest.raises(PlatformAuthError, match="TELEGRAM_BOT_TOKEN"):
        TelegramPlatform(token="nonsense")


async def test_a_webhook_takes_what_bears_its_secret_and_nothing_else() -> None:
    inbox = Kept(failing=1)
    port = free_port()
    webhook = Webhook(url=f"http://127.0.0.1:{port}/telegram", port=port)
    async with telegram_server() as server, serving(server, inbox, webhook=webhook):
        server.say(ASKER, "How many?")
        assert [incoming.text for incoming in await inbox.wait()] == ["How many?"]
        async with aiohttp.ClientSession() as session:
            forged = {"update_id": 1, "message": server.chat(ASKER).messages[1]}
            async with session.post(webhook.url, json=forged) as answer:
                assert answer.status == 401
    assert len(inbox.received) == 1


async def test_commands_are_told_in_each_language(scene: Scene) -> None:
    assert [command["command"] for command in scene.server.commands[""]] == [
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
    assert scene.server.commands["zh"][0]["description"] == "就文档内容提问"
