"""Text from documents, models and other machines made safe to show: no control character, no terminal escape."""

import re

# Whole sequences first (ECMA-48: CSI, and the string commands OSC, DCS, SOS, PM, APC, which must end on their line;
# an unfinished one loses only its introducer, so it cannot swallow the words after it).
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]{0,2000}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]?"
)
_NEWLINES = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# C0 without tab and newline, DEL, C1, bidirectional embeddings and isolates (they reorder what stands around them),
# interlinear annotation, lone surrogates (no terminal can encode them), and the invisible tag characters.
_CONTROLS = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
_SPACE = re.compile(r"\s+")


def clean(text: str) -> str:
    """Return the text without escapes and control characters, every line end a newline; tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return _CONTROLS.sub("", _NEWLINES.sub("\n", _SEQUENCES.sub("", text)))


def clean_line(text: str) -> str:
    """Return the cleaned text on one line, spaces collapsed."""
    return _SPACE.sub(" ", clean(text)).strip()


def clean_url(url: str) -> str:
    """Return the URL without control characters, inner white space encoded, so that it cannot break out of markup."""
    return _SPACE.sub("%20", clean(url).strip())
