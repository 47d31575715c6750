"""Why something is lacking, short enough to keep and the same for equal causes; and which setting to change. Pure."""

import re

from ragcore.enrich.rubbish import CUT, DECLINED, NOTHING, PROMPT_BACK

LONGEST = 160
"""Characters of a reason that is kept."""
REFUSED_CONTENT = "the endpoint refused the content"
UNKNOWN = "nobody noted why"
"""Of what was kept before reasons were."""
NO_ROOM = "the model's window has no room for it"
TOO_LONG = "more tokens than the endpoint takes"
_ID = re.compile(r"\b(?=[\w-]*\d)[A-Za-z0-9_-]{12,}\b|\b\d{5,}\b")
_IT_WROTE = re.compile(r"(?:it|there|none|nothing)\b")
_TASK = "under [llm.tasks.enrich]"
_MENDS = {
    NOTHING: f"raise max_tokens {_TASK}, or switch the model's thinking off there by extra_body",
    CUT: f"raise max_tokens {_TASK}",
    DECLINED: f"name another model {_TASK}",
    PROMPT_BACK: f"name a more able model {_TASK}",
    REFUSED_CONTENT: f"name a model {_TASK} that takes such content",
    NO_ROOM: "raise context_window under [llm], or lower max_tokens there",
    TOO_LONG: "lower context_window under [llm] to what the endpoint takes",
}


def noted(text: str) -> str:
    """Return a reason as it is kept: on one line, bounded, without what differs from one call to the next."""
    line = _ID.sub("…", " ".join(text.split()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def mend_of(reason: str) -> str:
    """Return which setting to change for a reason, "" where none is known, or the reason names it itself."""
    for beginning, mend in _MENDS.items():
        if reason.startswith(beginning):
            return mend
    return _MENDS[PROMPT_BACK] if _IT_WROTE.match(reason) else ""
