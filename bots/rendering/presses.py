"""The buttons of a view in the reader's language, in the order in which every platform shows them."""

from bots.platform import Button, View
from bots.rendering.actions import Act, Action, Press
from bots.words.captions import REASONS, caption


def presses(view: View) -> tuple[Press, ...]:
    """Return the buttons: the two of feedback first, then the others in the order of the view."""
    found: list[Press] = []
    if Button.FEEDBACK in view.buttons:
        found += [
            _press(view, Act.UP, caption("helpful", view.language), "👍"),
            _press(view, Act.DOWN, caption("not_helpful", view.language), "👎"),
        ]
    for button in dict.fromkeys(view.buttons):
        match button:
            case Button.QUOTES:
                found.append(_press(view, Act.QUOTES, caption("quotes", view.language)))
            case Button.STOP:
                found.append(_press(view, Act.STOP, caption("stop", view.language), "⏹"))
            case Button.SHOW:
                found.append(_press(view, Act.PAGE, caption("show", view.language), value="0"))
            case Button.SHARE:
                found.append(_press(view, Act.SHARE, caption("share", view.language)))
            case Button.DELETE:
                found.append(_press(view, Act.DELETE, caption("delete", view.language), "🗑"))
            case Button.PERSON:
                found.append(_press(view, Act.PERSON, caption("person", view.language)))
            case Button.KEEP:
                found.append(_press(view, Act.KEEP, caption("keep", view.language)))
            case Button.DROP:
                found.append(_press(view, Act.DROP, caption("drop", view.language)))
            case Button.RESEARCH:
                found.append(_press(view, Act.RESEARCH, caption("research", view.language)))
            case Button.FEEDBACK:
                pass
    return tuple(found)


def shown_page(view: View, pages: int) -> int:
    """Return which of so many pages the view shows, from 0."""
    return min(max(view.page or 0, 0), pages - 1)


def turning(view: View, pages: int) -> tuple[Press, ...]:
    """Return the buttons to the page before and the one behind, as far as there are any, each with its number."""
    if view.page is None:
        return ()
    here = shown_page(view, pages)
    there = [("◀ {}/{}", here - 1)] * (here > 0) + [("{}/{} ▶", here + 1)] * (here + 1 < pages)
    return tuple(_press(view, Act.PAGE, words.format(number + 1, pages), value=str(number)) for words, number in there)


def prompts(view: View, longest: int, most: int) -> tuple[Press, ...]:
    """Return the questions to go on with, as buttons that show them whole: none longer than ``longest``."""
    short = [(index, text) for index, text in enumerate(view.prompts) if 0 < len(text.strip()) <= longest]
    return tuple(_press(view, Act.ASK, text.strip(), value=str(index)) for index, text in short[:most])


def reasons(reference: str, language: str, *, person: bool = False) -> tuple[Press, ...]:
    """Return the buttons that ask why an answer did not help; with ``person`` the last one goes to a person."""
    found = tuple(
        Press(caption=caption(reason, language), action=Action(act=Act.REASON, reference=reference, value=reason))
        for reason in REASONS
    )
    ask = Press(caption=caption("person", language), action=Action(act=Act.PERSON, reference=reference))
    return (*found, ask) if person else found


def _press(view: View, act: Act, words: str, emoji: str = "", value: str = "") -> Press:
    return Press(caption=words, action=Action(act=act, reference=view.reference, value=value), emoji=emoji)
