"""An answer by the model alone, where there is no knowledge base to ask and the settings allow it: marked as such."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from ragcore.answer.fixed import fixed, reason_of, says_something
from ragcore.answer.stages import Stages
from ragcore.answer.writing import Draft, ModelWriter
from ragcore.citations import markers
from ragcore.errors import ContextTooSmall, ModelError
from ragcore.phrases import phrase
from ragcore.types import Answer, AnswerEvent, Delta, Question, Status, Support, Usage

log = logging.getLogger(__name__)


async def chatted(
    writer: ModelWriter, question: Question, language: str, stages: Stages, *, empty: str
) -> AsyncGenerator[AnswerEvent]:
    """Let the model answer under the sentence that says that it does so by itself; yield as ``Answerer.answer``.

    Args:
        writer: Writes without documents.
        question: What is asked.
        language: Of the fixed sentences.
        stages: The stopwatch.
        empty: What is said where the model fails, with the reason beside it.
    """
    yield Status(stage="write")
    mark, draft, is_shown = phrase("plain_chat", language), Draft(text="", chunks=()), False
    spent = Usage()
    try:
        with stages.stage("write"):
            async with aclosing(writer.write(question, (), language)) as pieces:
                async for piece in pieces:
                    if not isinstance(piece, Delta):
                        spent += piece.usage
                        draft = piece if isinstance(piece, Draft) else draft
                        continue
                    stages.first("first_words")
                    yield piece if is_shown else Delta(text=f"{mark}\n\n{piece.text}")
                    is_shown = True
    except (ModelError, ContextTooSmall) as error:
        log.warning("no plain answer: %s: %s", type(error).__name__, error)
        nothing = fixed(question, empty, Support.ABSTAINED, stages)
        yield replace(nothing, notes=(reason_of(error, language),), usage=spent)
        return
    if not says_something(draft):
        nothing = fixed(question, empty, Support.ABSTAINED, stages)
        yield replace(nothing, notes=(phrase("model_failed", language),), usage=spent)
        return
    yield Answer(
        question=question.text,
        raw_text=f"{mark}\n\n{markers.strip(markers.repair(draft.text, 0))}",
        support=Support.UNSUPPORTED,
        notes=draft.notes,
        reasoning=draft.reasoning,
        usage=spent,
        timings_ms=stages.milliseconds(),
    )
