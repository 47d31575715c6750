"""What the documents do not answer goes to a group of Telegram, and comes back as a reply to it."""

import pathlib

import pytest

from bots.platform import Button
from bots.telegram import TelegramPlatform
from bots.words.people import LANGUAGES, people_word
from tests.bots.owners import AGAIN, QUESTION, REPLY, looked_after, value_of
from tests.bots.scene import answered
from tests.bots.telegram.scene import ASKER, FAST, GROUP, Scene
from tests.fakes.waiting import until
from tests.servers.telegram import Json, telegram_server, words_of

pytestmark = pytest.mark.usefixtures("no_settings")
OWNER = 77


def pressed(message: Json, act: str) -> str:
    rows = (message.get("reply_markup") or {}).get("inline_keyboard", ())
    return value_of([button["callback_data"] for row in rows for button in row], act)


@pytest.mark.soak
async def test_a_reply_to_the_question_comes_back_and_answers_the_next(tmp_path: pathlib.Path) -> None:
    async with telegram_server(rates=FAST) as server:
        server.chat(GROUP)
        platform = TelegramPlatform(token=server.token, api_url=server.url)
        async with looked_after(platform, tmp_path, readers="*", owners=f"telegram:{GROUP}"):

            async def answer(question: str) -> Json:
                count = len(server.answers(ASKER))
                server.say(ASKER, question)
                await until(lambda: [one for one in server.answers(ASKER)[count:] if pressed(one, "up")], 30.0)
                return server.answers(ASKER)[count]

            first = await answer(QUESTION)
            server.press(first, pressed(first, "person"))
            await until(lambda: server.answers(GROUP))
            (card,) = server.answers(GROUP)
            assert QUESTION in words_of(card)
            server.say(GROUP, REPLY, user=OWNER, reply_to_message=card)
            await until(lambda: any(REPLY in words_of(one) for one in server.answers(ASKER)))
            await until(lambda: len(server.answers(GROUP)) == 2)
            (_, note) = server.answers(GROUP)
            server.press(note, pressed(note, "keep"), user=OWNER)
            await until(lambda: "This is a document now" in words_of(server.answers(GROUP)[1]), 30.0)
            assert "north wing" in words_of(await answer(AGAIN))


async def test_who_votes_an_answer_down_may_ask_a_person(scene: Scene) -> None:
    scene.inbox.for_people = frozenset({"0123abcd"})
    scene.server.say(ASKER, "How many?")
    await answered(scene, Button.FEEDBACK)
    scene.server.press(scene.server.answers(ASKER)[0], "cb:down:0123abcd:")
    await until(lambda: pressed(scene.server.answers(ASKER)[0], "person"))
    scene.server.press(scene.server.answers(ASKER)[0], pressed(scene.server.answers(ASKER)[0], "person"))
    await until(lambda: scene.inbox.to_people)
    assert scene.inbox.to_people == [("0123abcd", str(ASKER))]


def test_what_a_press_is_told_has_room_in_a_toast() -> None:
    """Telegram takes at most 200 characters (https://core.telegram.org/bots/api#answercallbackquery)."""
    for language in LANGUAGES:
        for key in ("asked", "already", "limited", "refused", "not_owner"):
            assert len(people_word(key, language)) <= 200, (language, key)
