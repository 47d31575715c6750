"""What of an answer is shown while it is written: nothing that may yet become something else, nor the rules. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.citations import markers
from ragcore.citations.stream import HoldBack
from ragcore.rules_back import MANY, shows_rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a model is asked with beside the question and what was found.

    ``ours``: the rules are those of the package, and none that somebody else wrote.
    """

    text: str
    ours: bool


class Showing:
    """Takes the pieces of an answer as they come and gives out what may be shown.

    A line that begins as the rules do is kept back as long as it goes on so; any other is given out at once, as far as
    ``HoldBack`` does. ``shows_rules`` is set once the text gives them back: then it is no answer.
    """

    __slots__ = ("_beside", "_held", "_hold", "_in_line", "_length", "_looked_at", "_pieces", "_rules", "shows_rules")

    def __init__(self, rules: Rules, beside: Sequence[str]) -> None:
        """Start at the head of a text; ``beside`` is what else the model was given, and may give back."""
        self._rules = rules
        self._beside = beside
        self._hold = HoldBack()
        self._pieces: list[str] = []
        self._length = 0
        self._looked_at = MANY
        self._held = ""
        self._in_line = False
        self.shows_rules = False

    def feed(self, text: str) -> str:
        """Take the next piece; return what may be shown now, possibly nothing."""
        self._pieces.append(text)
        self._length += len(text)
        if self._length >= self._looked_at:
            # Ever further apart: of a text without end it would take a time that grows with its square.
            self._looked_at = max(self._length + MANY, self._length * 5 // 4)
            self._look()
        new = self._freed(text)
        return "" if self.shows_rules else self._hold.feed(new)

    def close(self) -> str:
        """Return what is still kept back: the text has ended."""
        self._look()
        rest = self._hold.feed(self._held) + self._hold.close()
        return "" if self.shows_rules else markers.without_cut_off(rest)

    def _look(self) -> None:
        text = "".join(self._pieces)
        self.shows_rules |= shows_rules(text, self._rules.text, self._beside, ours=self._rules.ours)

    def _freed(self, text: str) -> str:
        """Keep a piece, and return what of all that is kept does not go on as the rules begin."""
        held, at = self._held + text, 0
        while at < len(held) and (self._in_line or not self._rules.text.startswith(held[at:])):
            end = held.find("\n", at)
            self._in_line = end < 0
            at = len(held) if self._in_line else end + 1
        if len(held) - at >= 2 * MANY:  # of which many are whole sentences
            self._look()
            self._in_line, at = True, len(held)  # it is no answer, or a passage says the same
        self._held = held[at:]
        return held[:at]
