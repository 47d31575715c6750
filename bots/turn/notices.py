"""What a conversation was told once, and in which ones the bot has spoken; in memory, the latest ones."""

import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

from bots.platform import Incoming, Reach
from ragcore.phrases import LANGUAGES, Phrase, phrase
from ragcore.research.sentences import is_of_research
from ragcore.types import ConversationKey

log = logging.getLogger(__name__)

REMEMBERED = 10_000
_OF_THIS_ANSWER: tuple[Phrase, ...] = ("length_cut", "interrupted", "model_declined", "model_refused")
_ALWAYS = frozenset(phrase(key, language) for key in _OF_THIS_ANSWER for language in LANGUAGES)


class Notices:
    """A notice is said once a conversation, and one under an answer; what tells of this very answer, always.

    The direct messages of one person are one conversation here, though each of them begins its own thread on Slack.
    """

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._said: OrderedDict[ConversationKey, set[str]] = OrderedDict()

    def choose(self, incoming: Incoming, notes: Sequence[str]) -> tuple[str, ...]:
        """Return those that are shown now; the others go to the log."""
        said = self._of(_read_in(incoming))
        always = [note for note in notes if _is_of_this_answer(note)]
        standing = [note for note in notes if note not in always and note not in said]
        said.update(standing)
        for note in standing[1:]:
            log.info("a further notice: %s", note)
        return (*always, *standing[:1])

    def spoke(self, conversation: ConversationKey) -> None:
        """Remember that the bot has answered in this conversation."""
        self._of(conversation)

    def has_spoken(self, conversation: ConversationKey) -> bool:
        """Return whether the bot has answered in this conversation, as far as it remembers."""
        return conversation in self._said

    def forget(self, incoming: Incoming) -> None:
        """Begin the conversation of this message anew."""
        self._said.pop(incoming.conversation, None)
        self._said.pop(_read_in(incoming), None)

    def _of(self, conversation: ConversationKey) -> set[str]:
        said = self._said.setdefault(conversation, set())
        self._said.move_to_end(conversation)
        while len(self._said) > REMEMBERED:
            self._said.popitem(last=False)
        return said


def _is_of_this_answer(note: str) -> bool:
    """Tell whether a note says how far this answer goes: a research that met a limit says what is missing for it."""
    return note in _ALWAYS or is_of_research(note)


def _read_in(incoming: Incoming) -> ConversationKey:
    """Return where whoever asks reads what was said before."""
    direct = incoming.reach is Reach.DIRECT
    return replace(incoming.conversation, thread="") if direct else incoming.conversation
