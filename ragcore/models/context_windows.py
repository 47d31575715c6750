"""How many tokens a model reads and writes together, where nobody has told."""

import logging
from functools import lru_cache

log = logging.getLogger(__name__)

CAUTIOUS_WINDOW = 8_192


@lru_cache(maxsize=64)
def context_window(model: str) -> int:
    """Return the model's window in tokens; unknown ones (local models, mostly) get a cautious one, said once."""
    # genai-prices takes 0.3 s to import.
    from genai_prices import data_snapshot

    snapshot = data_snapshot.get_snapshot()
    for name in dict.fromkeys((model, model.rpartition("/")[2])):
        try:
            _, found = snapshot.find_provider_model(name, None, None, None)
        except LookupError:
            continue
        if found.context_window:
            return int(found.context_window)
    log.warning("the context window of %s is unknown: taking %d tokens; set llm.context_window", model, CAUTIOUS_WINDOW)
    return CAUTIOUS_WINDOW
