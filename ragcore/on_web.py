"""What tells a page of the web from a document of a source: the name that stands where a source's would."""

WEB = ":web"
"""The knowledge base of what was found on the web, and the first part of its documents' ids: no source is called so."""


def is_web(document_id: str) -> bool:
    """Tell whether this is a page of the web: open to everybody, and in no index."""
    return document_id.startswith(f"{WEB}:")
