"""What one reply works with: whose it is, where it is sent, and what keeps count of it."""

from dataclasses import dataclass
from typing import Generic

from bots.platform import Platform, R
from bots.turn.claims import Claims
from bots.turn.claims.claim import Claim
from bots.turn.meter import Meter
from bots.turn.replying.pacing import Pacer


@dataclass(frozen=True, slots=True, kw_only=True)
class Means(Generic[R]):
    """A ``claim`` that is held, the ``claims`` in which sends are recorded, and a platform with its limits and meter.

    ``pacer`` and ``meter`` are the same for all replies of a platform.
    """

    platform: Platform[R]
    claim: Claim
    claims: Claims
    pacer: Pacer
    meter: Meter
