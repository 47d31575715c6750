"""The steps of a research as lines, in the reader's language."""

from dataclasses import replace

from bots.rendering.clean import clean_line
from bots.rendering.sources import shortened
from bots.rendering.tree import StepLine, Steps
from bots.words.captions import caption
from bots.words.sentences import Word, word
from ragcore.research import Outcome, Progress, StepKind

LONGEST = 120
"""Code points of what one step asks, and of why it failed."""
_STEPS: dict[str, Word] = {
    StepKind.PLAN: "planning",
    StepKind.SEARCH: "researching",
    StepKind.JUDGE: "judging",
}


class StepsTaken:
    """What was done of one research until now; for one turn."""

    def __init__(self, language: str) -> None:
        """Begin without any."""
        self._language = language
        self._lines: dict[str, StepLine] = {}

    def take(self, step: Progress) -> str:
        """Take in a step that has begun or ended; return the line of status for it, empty for one that has ended."""
        language = self._language
        words = word(_STEPS[step.stage], language, what=_short(step.detail))
        going = step.outcome is Outcome.BEGUN
        key = f"{step.stage}:{step.round}:{step.number}"
        if going:
            self._lines[key] = StepLine(key=key, words=words.rstrip(" …"))
            return words
        told = "; ".join(filter(None, (_result(step, language), _apology(step))))
        line = words.rstrip(" …") + (f" ({told})" if told else "")
        failed = step.outcome is Outcome.FAILED
        self._lines[key] = StepLine(key=key, words=line, state="failed" if failed else "done")
        return ""

    @property
    def going(self) -> Steps | None:
        """Return the steps as they stand; None before the first one."""
        lines = tuple(self._lines.values())
        return Steps(title=f"{caption('steps', self._language)} ({len(lines)})", lines=lines) if lines else None

    @property
    def ended(self) -> Steps | None:
        """Return the steps beneath the answer: what has come to no end by then, comes to none."""
        steps = self.going
        if steps is None:
            return None
        lines = (replace(line, state="failed") if line.state == "going" else line for line in steps.lines)
        return replace(steps, lines=tuple(lines))


def _result(step: Progress, language: str) -> str:
    """Return what came of a step, in few words."""
    match step.outcome:
        case Outcome.FAILED:
            return ": ".join(part for part in (caption("failed", language), _short(step.reason)) if part)
        case Outcome.NOTHING:
            return caption("nothing", language)
        case _ if step.stage == StepKind.PLAN:
            return f"{caption('sub_questions', language)}: {step.found}"
        case _ if step.stage == StepKind.SEARCH:
            return f"{caption('passages', language)}: {step.found}"
        case _:
            return ""


def _apology(step: Progress) -> str:
    """Return why a step that is done was done without the model, as it came from there."""
    return "" if step.outcome is Outcome.FAILED else _short(step.reason)


def _short(text: str) -> str:
    return shortened(clean_line(text), LONGEST)
