"""The table of deep research."""

from typing import Literal

from pydantic import Field

from bots.settings.model.values import Section


class ResearchSettings(Section):
    """What one research may take (`citebot ask --research`): several searches for a question that one can't answer.

    When a limit is met, the answer is written from what was found by then, and says what is missing.
    """

    rounds: int | None = Field(default=None, ge=1, le=20, description="how often it searches anew; default: 3")
    searches: int | None = Field(
        default=None, ge=1, le=200, description="how many sub-questions it searches for, of all rounds; default: 12"
    )
    tokens: int | None = Field(
        default=None, ge=0, description="what the model may read and write for it, in tokens; default: 150000"
    )
    seconds: float | None = Field(default=None, gt=0, le=3600, description="until its last word; default: 180")
    tools: bool = Field(
        default=False,
        description="whether the model chooses each step itself: what to search for, which document to read or to look "
        "for, and, where that may be, what to search the web for; takes two calls more a round, and a model that "
        "follows instructions well",
    )
    tool_calls: Literal["auto", "native", "json"] = Field(
        default="auto",
        description='how the model calls its `tools`: "native" by the function calling of its endpoint, "json" as JSON '
        'in its reply, "auto" natively, and as JSON where the endpoint takes no tools',
    )
    dollars: float | None = Field(
        default=None,
        ge=0,
        description="what it may cost, in US dollars by the public price of the model; counts only where that is known",
    )
