"""What arrived and what was sent, as JSON and back, exactly: a crash in the middle of a turn leaves nothing else.

Fields that an older version did not write take their defaults, those of a newer one are passed over.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from datetime import datetime
from typing import Any

from bots.platform import Asker, Attachment, Incoming, Reach, Sent
from bots.whose import Words
from ragcore.types import ConversationKey


def incoming_to_json(incoming: Incoming) -> str:
    """Return the message as JSON, in ASCII: any text survives, whatever a database takes."""
    return _written(incoming)


def incoming_from_json(written: str) -> Incoming:
    """Return the message that ``incoming_to_json`` wrote.

    Raises:
        ValueError, KeyError, TypeError: it wrote something else.
    """
    plain = _known(Incoming, json.loads(written))
    plain["keys"] = tuple(plain["keys"])
    plain["conversation"] = ConversationKey(**_known(ConversationKey, plain["conversation"]))
    plain["asker"] = Asker(**_known(Asker, plain["asker"]))
    plain["reach"] = Reach(plain["reach"])
    plain["words"] = Words(plain.get("words", Words.OWN))
    plain["sent_at"] = datetime.fromisoformat(plain["sent_at"])
    plain["knowledge_bases"] = tuple(plain.get("knowledge_bases", ()))
    plain["seen_by"] = frozenset(plain.get("seen_by", ()))
    plain["attachments"] = tuple(Attachment(**_known(Attachment, one)) for one in plain.get("attachments", ()))
    if plain.get("edited_at"):
        plain["edited_at"] = datetime.fromisoformat(plain["edited_at"])
    return Incoming(**plain)


def words_from_json(written: str) -> str:
    """Return what was said in a message that ``incoming_to_json`` wrote, be it that of a newer version."""
    return str(json.loads(written).get("text", ""))


def sent_to_json(sent: Sent) -> str:
    """Return what stands on the platform as JSON, in ASCII."""
    return _written(sent)


def sent_from_json(written: str) -> Sent | None:
    """Return what ``sent_to_json`` wrote, None of an empty text."""
    return Sent(**_known(Sent, json.loads(written))) if written else None


def without_words(incoming: Incoming) -> Incoming:
    """Return the message without what was said in it: what is left names it, its asker and its place."""
    silent = replace(incoming, text="", attachments=(), replied_text="", replied_author="")
    return replace(silent, knowledge_bases=(), asker=Asker(id=incoming.asker.id))


def _written(value: Any) -> str:
    return json.dumps(_plain(value), separators=(",", ":"))


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {f.name: _plain(one) for f in fields(value) if (one := getattr(value, f.name)) != _default(f)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return dict(value) if isinstance(value, Mapping) else value


def _default(field: Any) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else field.default


def _known(kind: type[Any], plain: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in plain.items() if name in names}
