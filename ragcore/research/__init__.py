"""Deep research: several searches for one question, in rounds and within limits, ending in an ordinary cited Answer."""

from ragcore.research.values import Limits, Outcome, Price, Progress, Step, StepKind

__all__ = ["Limits", "Outcome", "Price", "Progress", "Step", "StepKind"]
