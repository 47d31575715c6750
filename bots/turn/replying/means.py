"""What one reply works with: whose it is, where it is sent, and what keeps count of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

from bots.platform import Platform, R
from bots.turn.claims import Claims
from bots.turn.claims.claim import Claim
from bots.turn.meter import Meter
from bots.turn.replying.pacing import Pacer
from ragcore.errors import ClaimLost


@dataclass(frozen=True, slots=True, kw_only=True)
class Means(Generic[R]):
    """A ``claim`` that is held, the ``claims`` in which sends are recorded, and a platform with its limits and meter.

    ``pacer`` and ``meter`` are the same for all replies of a platform. ``lost`` tells whether somebody else may have
    the claim, or have it soon.
    """

    platform: Platform[R]
    claim: Claim
    claims: Claims
    pacer: Pacer
    meter: Meter
    lost: Callable[[], bool]

    def check(self) -> None:
        """Raise ClaimLost where the platform is to be called no more, however long that call had to wait."""
        if self.lost():
            raise ClaimLost(f"others may answer {self.claim.reference}")
