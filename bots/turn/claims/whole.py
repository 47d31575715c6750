"""The whole of a reply as JSON and back: what one message shows page by page, in any process, also after a restart."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import Any

from bots.platform import Button, View
from bots.rendering import tree

_NODES: Mapping[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        tree.Text, tree.Code, tree.Styled, tree.Link, tree.Cite, tree.Break, tree.Paragraph, tree.Heading,
        tree.ListItem, tree.ItemList, tree.Quote, tree.Fence, tree.Table, tree.Rule, tree.SourceLine,
        tree.StepLine, tree.Steps, tree.Document, View,
    )
}  # fmt: skip
_KIND, _MOMENT = "is", "at"


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A whole reply; ``knowledge_bases`` are those that it was made from: whoever is shown a page may read them all."""

    view: View
    knowledge_bases: tuple[str, ...] = ()


def whole_to_json(whole: Whole) -> str:
    """Return the reply as JSON, in ASCII: any text survives, whatever a database takes."""
    written = {"view": _plain(whole.view), "knowledge_bases": list(whole.knowledge_bases)}
    return json.dumps(written, separators=(",", ":"))


def whole_from_json(written: str) -> Whole | None:
    """Return what ``whole_to_json`` wrote; None of an empty text, and of what another version wrote otherwise."""
    if not written:
        return None
    try:
        plain = json.loads(written)
        view = _value(plain["view"])
        buttons = tuple(Button(name) for name in view["buttons"])
        return Whole(view=View(**{**view, "buttons": buttons}), knowledge_bases=tuple(plain["knowledge_bases"]))
    except (ValueError, KeyError, TypeError):
        return None


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {_KIND: type(value).__name__} | {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, datetime):
        return {_MOMENT: value.isoformat()}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def _value(plain: Any) -> Any:
    if isinstance(plain, list):
        return tuple(_value(one) for one in plain)
    if not isinstance(plain, dict):
        return plain
    if _MOMENT in plain:
        return datetime.fromisoformat(plain[_MOMENT])
    held = {name: _value(one) for name, one in plain.items() if name != _KIND}
    kind = _NODES[plain[_KIND]]
    return held if kind is View else kind(**held)
