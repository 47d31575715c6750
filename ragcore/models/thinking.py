"""Keeps what a model thinks aloud apart from what it answers, while the text streams by.

Three forms are known: ``<think>…</think>`` before the answer; the same without its end, when the limit cut it; and
without its beginning, where the chat template has put the opening tag into the prompt already.
"""

import re

from ragcore.models.llm import Discard, ReasoningPiece, TextPiece

OPENING = ("<think>", "<thinking>")
CLOSING = ("</think>", "</thinking>")

# A closing tag ends reasoning without an opening only on a line's end and outside of code: an answer may speak of tags.
_ORPHAN = re.compile(r"(?<!`)</think(?:ing)?>(?=[^\S\n]*(?:\n|$))", re.IGNORECASE)

SplitPiece = TextPiece | ReasoningPiece | Discard


class ThinkSplitter:
    """Splits one answer; feed it the text as it comes, then close it.

    ``opens_thinking`` says that this model begins in its thoughts without a tag; ``saw_orphan`` says afterwards that it
    did so unexpectedly.
    """

    def __init__(self, *, opens_thinking: bool = False) -> None:
        self.saw_orphan = False
        self._assumed = opens_thinking
        self._state = "thinking" if opens_thinking else "start"
        self._pending = ""
        self._thoughts: list[str] = []
        self._text: list[str] = []

    def feed(self, text: str) -> list[SplitPiece]:
        """Return what is decided by now; a possible tag is held back."""
        self._pending += text
        pieces: list[SplitPiece] = []
        while self._step(pieces):
            pass
        return pieces

    def close(self) -> list[SplitPiece]:
        """Return the rest."""
        pieces: list[SplitPiece] = []
        if self._state == "thinking":
            self._think(pieces, self._pending)
            if self._assumed and self._thoughts:
                # It was expected to think and never came to an end of it: then this is the answer.
                pieces.append(TextPiece(text="".join(self._thoughts).lstrip()))
        else:
            self._write(pieces, self._pending)
        self._pending = ""
        return pieces

    def _step(self, pieces: list[SplitPiece]) -> bool:
        """Take one decision; return whether another may follow at once."""
        if self._state in ("start", "after"):
            return self._decide_start()
        if self._state == "thinking":
            return self._end_thoughts(pieces)
        return self._watch_text(pieces)

    def _decide_start(self) -> bool:
        head = self._pending.lstrip()
        lowered = head.lower()
        for tag in OPENING:
            if lowered.startswith(tag):
                self._state, self._pending = "thinking", head[len(tag) :]
                return True
        if any(tag.startswith(lowered) for tag in OPENING):
            return False
        # A second block of thoughts may follow the first; behind one, a lone closing tag is text.
        self._state = "text" if self._state == "start" else "answer"
        return True

    def _end_thoughts(self, pieces: list[SplitPiece]) -> bool:
        lowered = self._pending.lower()
        # The template may have opened already what the model opens once more.
        if self._assumed and not self._thoughts and lowered.lstrip().startswith(OPENING):
            self._assumed = False
            self._pending = self._pending.lstrip().partition(">")[2]
            return True
        ends = [(lowered.find(tag), tag) for tag in CLOSING if tag in lowered]
        if not ends:
            held = _held(lowered, CLOSING if self._thoughts or not self._assumed else CLOSING + OPENING)
            keep = len(self._pending) - held
            self._think(pieces, self._pending[:keep])
            self._pending = self._pending[keep:]
            return False
        at, tag = min(ends)
        self._think(pieces, self._pending[:at])
        self._state, self._pending = "after", self._pending[at + len(tag) :]
        return True

    def _watch_text(self, pieces: list[SplitPiece]) -> bool:
        if self._state == "answer":
            self._write(pieces, self._pending)
            self._pending = ""
            return False
        found = _ORPHAN.search(self._pending)
        if found is None:
            keep = len(self._pending) - _held(self._pending.lower(), CLOSING)
            self._write(pieces, self._pending[:keep])
            self._pending = self._pending[keep:]
            return False
        if found.end() == len(self._pending) or not self._pending[found.end() :].strip(" \t"):
            # What follows on the line decides; until then the tag waits.
            self._write(pieces, self._pending[: found.start()])
            self._pending = self._pending[found.start() :]
            return False
        before = "".join(self._text) + self._pending[: found.start()]
        if before.count("```") % 2:
            self._write(pieces, self._pending[: found.end()])
            self._pending = self._pending[found.end() :]
            return True
        self.saw_orphan = True
        pieces.append(Discard(text=before))
        self._text.clear()
        self._state, self._pending = "answer", self._pending[found.end() :]
        return True

    def _think(self, pieces: list[SplitPiece], text: str) -> None:
        if not self._thoughts:
            text = text.lstrip()
        if text:
            self._thoughts.append(text)
            pieces.append(ReasoningPiece(text=text))

    def _write(self, pieces: list[SplitPiece], text: str) -> None:
        if not self._text:
            text = text.lstrip()
        if text:
            self._text.append(text)
            pieces.append(TextPiece(text=text))


def _held(lowered: str, tags: tuple[str, ...]) -> int:
    """Return how many characters at the end may be the beginning of a tag, spaces after a whole tag included."""
    at = lowered.rfind("<")
    if at < 0:
        return 0
    rest = lowered[at:].rstrip(" \t")
    return len(lowered) - at if any(tag.startswith(rest) for tag in tags) else 0
