"""What nobody foresaw, as one of our own errors with a reference to the log."""

import contextlib
import logging
import uuid
from collections.abc import Iterator

from ragcore.errors import CitebotError

log = logging.getLogger(__name__)


@contextlib.contextmanager
def in_words(what: str) -> Iterator[None]:
    """Raise CitebotError also for what nobody foresaw: the log has that, by a reference, with ``what`` it was."""
    try:
        yield
    except CitebotError:
        raise
    except Exception as error:
        reference = uuid.uuid4().hex[:8]
        log.exception("request %s failed: %s", reference, what)
        told = f"something unexpected went wrong ({type(error).__name__}, reference {reference}); see the log"
        raise CitebotError(told) from error
