"""Whether a message begins with the mention of somebody other than the bot, as Slack and Telegram write mentions."""

from datetime import UTC, datetime

import pytest
from aiogram.types import Chat, Message, MessageEntity, User

from bots.slack import translating as slack
from bots.telegram import translating as telegram

BOT = telegram.Self(id=1, username="docs_bot", reads_groups=True)
BOB = User(id=7, is_bot=False, first_name="Bob")


@pytest.mark.parametrize(
    ("text", "to_others"),
    [
        ("<@U5> who asks this?", True),
        (" <@U5|bob> who asks this?", True),
        ("<!subteam^S1> who asks this?", True),
        ("<!here> who asks this?", True),
        ("<@U1> <@U5> who asks this?", True),
        ("<@U1> how many?", False),
        ("Six, says <@U5>.", False),
        ("@dataclass does it.", False),
        ("&lt;@U5&gt; is how a mention is written.", False),
        ("<#C5> has it.", False),
    ],
)
def test_on_slack(text: str, to_others: bool) -> None:
    event = {"channel": "C1", "ts": "1.5", "thread_ts": "1.0", "user": "U2", "text": text}
    incoming = slack.incoming_of(event, slack.Self(team="T1", user="U1", bot="B1"))
    assert incoming is not None
    assert incoming.to_others is to_others


@pytest.mark.parametrize(
    ("text", "entities", "to_others"),
    [
        ("@bob who asks this?", [MessageEntity(type="mention", offset=0, length=4)], True),
        ("\n@bob who asks this?", [MessageEntity(type="mention", offset=1, length=4)], True),
        ("Bob, who asks this?", [MessageEntity(type="text_mention", offset=0, length=3, user=BOB)], True),
        ("🚲 @bob has it.", [MessageEntity(type="mention", offset=3, length=4)], False),
        ("@docs_bot how many?", [MessageEntity(type="mention", offset=0, length=9)], False),
        ("@dataclass", [], False),
        ("Six.", [MessageEntity(type="bold", offset=0, length=4)], False),
    ],
)
def test_on_telegram(text: str, entities: list[MessageEntity], to_others: bool) -> None:
    chat = Chat(id=-5, type="supergroup")
    message = Message(
        message_id=3, date=datetime.now(UTC), chat=chat, from_user=User(id=2, is_bot=False, first_name="Ada"), text=text
    )
    incoming = telegram.incoming_of(message.model_copy(update={"entities": entities}), BOT)
    assert incoming is not None
    assert incoming.to_others is to_others
