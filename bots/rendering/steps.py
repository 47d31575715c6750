"""The steps on the way to an answer: as lines while it is looked for, folded away beneath it once it is there."""

from collections.abc import Callable
from dataclasses import replace

from bots.rendering.sources import shortened
from bots.rendering.tree import Break, Document, Inline, Paragraph, StepLine, Steps, Text

_MARKS = {"going": "…", "done": "✓", "failed": "✗"}


def step_line(step: StepLine) -> str:
    """Return one step in plain words, behind its mark."""
    return f"{_MARKS[step.state]} {step.words}"


def growing(document: Document, most: int) -> Document:
    """Return what a message shows that is still being written: its words, or as long as there are none the steps.

    Of the steps the latest, in at most ``most`` code points.
    """
    if document.blocks or not document.steps:
        return replace(document, steps=None)
    lines: list[str] = []
    room = most
    for step in reversed(document.steps.lines):
        line = shortened(step_line(step), most)
        room -= len(line) + 1
        if room < 0 and lines:
            break
        lines.insert(0, line)
    children: list[Inline] = []
    for line in lines:
        children += [*([Break(hard=True)] if children else []), Text(text=line)]
    return Document(blocks=(Paragraph(children=tuple(children)),))


def folded(last: Document, steps: Steps | None, fits: Callable[[Document], bool]) -> Document:
    """Return the last part of an answer with as many of its steps, from the first one on, as it has room for.

    They never make a part of their own: whoever reads the answer has seen them pass.
    """
    if steps is None:
        return last
    counts = [len(steps.lines)]
    while counts[-1] > 1:
        counts.append(counts[-1] // 2)
    for count in counts:
        with_steps = replace(last, steps=replace(steps, lines=steps.lines[:count]))
        if fits(with_steps):
            return with_steps
    return last
