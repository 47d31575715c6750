"""Answers in words of our own, and why a model gave none. Pure."""

import math

from ragcore.answer.stages import Stages
from ragcore.answer.writing import Draft
from ragcore.citations import markers
from ragcore.errors import (
    ContextTooSmall,
    ModelBadOutput,
    ModelContextTooLong,
    ModelError,
    ModelInterrupted,
    ModelRateLimited,
    ModelRefused,
    ModelUnreachable,
)
from ragcore.phrases import phrase
from ragcore.types import Answer, Question, Support, Usage


def fixed(question: Question, text: str, support: Support, stages: Stages) -> Answer:
    """Return an answer that no model wrote."""
    return Answer(
        question=question.text, raw_text=text, support=support, usage=Usage(), timings_ms=stages.milliseconds()
    )


def says_something(draft: Draft) -> bool:
    """Return whether there is a word in it: a model may think until its length limit, and write nothing."""
    text = markers.strip(markers.repair(draft.text, len(draft.chunks)))
    return any(character.isalnum() for character in text)


def reason_of(error: ModelError | ContextTooSmall, language: str) -> str:
    """Return why the model doesn't answer, in words for the reader: whether asking later can help is what counts."""
    if isinstance(error, ModelRateLimited) and error.retry_after is not None:
        return phrase("rate_limited", language, seconds=math.ceil(error.retry_after))
    if isinstance(error, ModelRateLimited):
        return phrase("model_busy", language)
    if isinstance(error, ModelRefused):
        return phrase("model_refused", language)
    if isinstance(error, ModelUnreachable):
        return phrase("model_down", language)
    if isinstance(error, ModelBadOutput | ModelInterrupted | ModelContextTooLong):
        return phrase("model_failed", language)
    return phrase("model_set_up_wrong", language)
