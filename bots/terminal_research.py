"""Names of researches that are asked for in a terminal: one that was broken off is gone on with when asked again."""

import hashlib
import json

from bots.requests import Ask

_NAMED = "terminal:"


def terminal_reference(request: Ask) -> str:
    """Return the name of a research that is asked for in a terminal: the same one for the same request."""
    said = [request.question, request.knowledge_bases, request.document_ids, request.filter, request.web]
    readers = None if request.audience is None else sorted(request.audience)
    return _NAMED + hashlib.sha256(json.dumps([*said, readers]).encode()).hexdigest()


def is_terminal(reference: str) -> bool:
    """Tell whether a research was asked for in a terminal: there, the same question after its answer is a new one."""
    return reference.startswith(_NAMED)
