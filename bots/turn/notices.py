"""What a conversation was told once, and in which ones the bot has spoken; in memory, the latest ones."""

import logging
from collections import OrderedDict
from collections.abc import Sequence

from ragcore.phrases import LANGUAGES, Phrase, phrase
from ragcore.types import ConversationKey

log = logging.getLogger(__name__)

REMEMBERED = 10_000
_OF_THIS_ANSWER: tuple[Phrase, ...] = ("length_cut", "interrupted", "model_declined", "model_refused")
_ALWAYS = frozenset(phrase(key, language) for key in _OF_THIS_ANSWER for language in LANGUAGES)


class Notices:
    """A notice is said once a conversation, and one under an answer; what tells of this very answer, always."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._said: OrderedDict[ConversationKey, set[str]] = OrderedDict()

    def choose(self, conversation: ConversationKey, notes: Sequence[str]) -> tuple[str, ...]:
        """Return those that are shown now; the others go to the log."""
        said = self._of(conversation)
        always = [note for note in notes if note in _ALWAYS]
        standing = [note for note in notes if note not in _ALWAYS and note not in said]
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

    def forget(self, conversation: ConversationKey) -> None:
        """Begin anew."""
        self._said.pop(conversation, None)

    def _of(self, conversation: ConversationKey) -> set[str]:
        said = self._said.setdefault(conversation, set())
        self._said.move_to_end(conversation)
        while len(self._said) > REMEMBERED:
            self._said.popitem(last=False)
        return said
