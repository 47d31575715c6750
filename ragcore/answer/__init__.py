"""Question in, Answer out: search, write, cite; told as a stream of Status, Delta and one final Answer."""

from ragcore.answer.options import AnswerOptions
from ragcore.answer.pipeline import Answerer, Searcher
from ragcore.answer.writing import Draft, ExtractiveWriter, ModelWriter

__all__ = ["AnswerOptions", "Answerer", "Draft", "ExtractiveWriter", "ModelWriter", "Searcher"]
