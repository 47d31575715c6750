"""Discord shows previews of links unless a call switches them off: every call that has the switch does."""

import ast
import pathlib

import bots.discord

SOURCES = sorted(pathlib.Path(bots.discord.__file__).parent.glob("*.py"))
SWITCHED = {"send", "send_message", "edit_message"}
"""Calls of discord.py that take ``suppress_embeds``; a webhook's ``edit_message`` and ``edit_original_response`` don't,
and ``PartialMessage.edit`` leaves the flag as it is."""


def switched(source: str) -> list[tuple[str, bool]]:
    """Return the calls that have the switch, and whether they use it."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    named = [(call, call.func) for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in SWITCHED]
    return [
        (ast.unparse(call.func), any(keyword.arg == "suppress_embeds" for keyword in call.keywords))
        for call, func in named
        if not (func.attr == "edit_message" and "_webhook" in ast.unparse(func.value))
    ]


def test_previews_are_off_wherever_a_call_has_the_switch() -> None:
    found = [one for path in SOURCES for one in switched(path.read_text("utf-8"))]
    assert len(found) > 8
    assert [call for call, is_off in found if not is_off] == []
    assert switched("a.followup.send('x')\na._webhook(i).edit_message(1)") == [("a.followup.send", False)]
