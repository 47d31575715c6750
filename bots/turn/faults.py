"""What a reader is told of an error that kept a model from answering."""

from ragcore.errors import (
    CitebotError,
    ConfigError,
    ModelAuthError,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelUnreachable,
)
from ragcore.phrases import Phrase


def phrase_of(error: CitebotError) -> Phrase | None:
    """Return the sentence that says it, None where none does."""
    match error:
        case ModelRateLimited():
            return "rate_limited" if error.retry_after else "model_busy"
        case ModelUnreachable():
            return "model_down"
        case ModelRefused():
            return "model_refused"
        case ModelAuthError() | ConfigError():
            return "model_set_up_wrong"
        case ModelError():
            return "model_failed"
        case _:
            return None
