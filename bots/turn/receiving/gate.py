"""Whether a message is answered at all: own and other bots' words, channels, edits. Pure."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from bots.platform import ASKING, Incoming, Reach
from bots.turn.options import Respond
from bots.words.sentences import Word

LONGEST_QUESTION = 20_000
"""Characters; what is longer is a document, and is better sent as a file."""


@dataclass(frozen=True, slots=True)
class Pass:
    """It is answered."""


@dataclass(frozen=True, slots=True)
class Drop:
    """It is none of our business; ``reason`` is for the log."""

    reason: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """Whoever addressed the bot is told why there is no answer; ``seconds`` is the wait, where there is one."""

    word: Word
    seconds: int = 0


Verdict = Pass | Drop | Refuse

_PASS = Pass()


def judge(  # noqa: PLR0911
    incoming: Incoming, *, respond: Respond, now: datetime, edit_within: timedelta, late_after: timedelta
) -> Verdict:
    """Return what becomes of a message, its sender's pace aside.

    Args:
        incoming: The message.
        respond: What its channel is answered.
        now: The time.
        edit_within: How long after a question its edit still counts.
        late_after: From which age on a question, which waited while nobody listened, is not answered any more.
    """
    if incoming.asker.is_bot:
        return Drop("a bot wrote it")
    if not incoming.text.strip() and not incoming.attachments and incoming.command in ASKING:
        return Drop("it is empty")
    if incoming.edited_at is not None and now - incoming.sent_at > edit_within:
        return Drop("it was edited too late")
    if incoming.command == "start":
        return _PASS  # the first step into a private chat: who has taken it is greeted, as a word there is answered
    if incoming.reach is not Reach.DIRECT and respond == "off":
        return Refuse("not_here") if incoming.reach is Reach.COMMAND else Drop("its channel is off")
    if incoming.reach is Reach.CHANNEL and not _is_for_all(incoming.text, respond):
        return Drop("it is not addressed to us")
    if is_late(incoming, now=now, late_after=late_after):
        return Drop("it is old") if incoming.reach is Reach.CHANNEL else Refuse("late")
    if len(incoming.text) > LONGEST_QUESTION:
        return Refuse("too_long")
    return _PASS


def is_late(incoming: Incoming, *, now: datetime, late_after: timedelta) -> bool:
    """Return whether a message waited too long to be answered; a greeting is as good later."""
    return incoming.command != "start" and now - incoming.sent_at > late_after


def _is_for_all(text: str, respond: Respond) -> bool:
    return respond == "all" or (respond == "questions" and is_question(text))


_NOT_PROSE = re.compile(r"```.*?(?:```|$)|`[^`\n]*`|\b\w+://\S+|\bwww\.\S+", re.DOTALL)
_FIRST_WORDS = re.compile(
    r"(?:who|whom|whose|what|which|when|where|why|how|is|are|am|was|were|do|does|did|can|could|should|would|will|may|has|have"
    r"|wer|wen|wem|was|welche\w*|wann|wo|woher|wohin|warum|wieso|wie|wieviele?"
    r"|qui|que|quoi|quel\w*|quand|où|pourquoi|comment|combien|est-ce"
    r"|quién|qué|cuál\w*|cuándo|dónde|por qué|cómo|cuánt\w*"
    r"|кто|что|какой|какая|какие|когда|где|почему|зачем|как|сколько)\b",
    re.IGNORECASE,
)
_ASKING_CHINESE = re.compile(
    r"[吗呢么][\s。.!！~～]*$|什么|怎么|怎样|如何|哪[里儿个些]|为什么|为何|多少|几[个天次时点]|是否|能不能|可不可以|有没有"
)


def is_question(text: str) -> bool:
    """Return whether a message asks something: by its question mark, its first word, or as Chinese asks.

    Marks in code and addresses don't count.
    """
    prose = _NOT_PROSE.sub(" ", text).strip()
    if re.search(r"[?？؟]", prose):
        return True
    return bool(_FIRST_WORDS.match(prose) or _ASKING_CHINESE.search(prose))
