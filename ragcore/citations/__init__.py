"""Citations: find and repair markers, split sentences, verify what is cited, attribute what is bare."""

from ragcore.citations import markers
from ragcore.citations.cite import CitedText, attribute, cite
from ragcore.citations.scoring import CitationPolicy

__all__ = ["CitationPolicy", "CitedText", "attribute", "cite", "markers"]
