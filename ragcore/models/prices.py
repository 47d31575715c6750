"""What models cost, by the price lists that genai-prices holds."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from ragcore.research.values import Price


@lru_cache(maxsize=64)
def price_of(model: str) -> Price | None:
    """Return the price of a model in US dollars, None where none is known: that of local ones, mostly.

    Where it depends on the length of a prompt or on the time of day, the dearest is taken.
    """
    # genai-prices takes 0.3 s to import.
    from genai_prices import data_snapshot

    snapshot = data_snapshot.get_snapshot()
    for name in dict.fromkeys((model, model.rpartition("/")[2])):
        try:
            _, found = snapshot.find_provider_model(name, None, None, None)
            prices = found.get_prices(datetime.now(UTC))
        except LookupError:
            continue
        prompt, completion = _dearest(prices.input_mtok), _dearest(prices.output_mtok)
        if prompt is not None and completion is not None:
            return Price(prompt=prompt, completion=completion)
    return None


def _dearest(price: Any) -> float | None:
    """Return a price for a million tokens: of one with tiers the highest."""
    if price is None:
        return None
    tiers = getattr(price, "tiers", None)
    if tiers is None:
        return float(price)
    return max(float(price.base), *(float(tier.price) for tier in tiers))
