"""Documents in: bytes of any format become titled sections with their place in the source."""

from ragcore.parsing.options import ParseOptions
from ragcore.parsing.registry import PARSER_VERSION, parse, recognise

__all__ = ["PARSER_VERSION", "ParseOptions", "parse", "recognise"]
