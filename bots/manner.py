"""How a reply can grow on a platform, and what the platform can tell of it."""

from dataclasses import dataclass
from typing import Literal

Streaming = Literal["stream", "edit", "draft", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a reply to one message can grow.

    ``streaming``: ``stream`` appends to a message that must be ended (Slack), ``edit`` rewrites one, ``draft`` shows
    what the final message replaces (Telegram, private chats), ``none`` waits for the whole answer. ``every`` is the
    least number of seconds between two changes of one reply, ``finds_sent`` whether ``Platform.find`` can tell what
    was taken (if not, an answer in doubt is repeated rather than lost). A status stays ``status_lasts`` seconds (0:
    until the reply); ``status_has_words``: it shows what is done, not only that something is. ``suggests``: no event
    tells that somebody opens this conversation, so its first answer carries the questions to begin with.
    ``reads_threads``: ``Platform.thread`` can read what was said; if not, it is kept as it is heard. ``shares``: the
    asker alone sees the reply, in a place that others see too, and can show it to them. ``notice`` is what this
    conversation is told once, under an answer: what the platform hides (``bots.words.sentences``).

    ``paged``: the reply stays one message, of which a page is shown at a time; of further ones nobody could tell after
    a crash whether they were taken. ``doubtful``: nobody can tell it of the one message either, nor change it. What may
    have been taken is then not sent again: its asker is told so, and can have it shown.
    """

    streaming: Streaming
    every: float
    finds_sent: bool
    status_lasts: float = 0.0
    status_has_words: bool = False
    suggests: bool = False
    reads_threads: bool = True
    shares: bool = False
    paged: bool = False
    doubtful: bool = False
    notice: Literal["", "mention_needed"] = ""
