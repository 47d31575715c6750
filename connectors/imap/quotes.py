"""What a mail says itself, without what it repeats and without its signature. Pure.

What is repeated is left out only where the mail that it is from stands in the same document.
"""

import re

from ragcore.mail_lines import LIST_FOOTER, QUOTE, RULE, SENT_FROM, attribution_lines, is_original

_LONG = 8
"""Lines that an answer may repeat in its middle or at its top: what it is about, and not the whole mail."""
_SIGNATURE_LINES = 15


def own_words(text: str, *, keeps_quotes: bool) -> str:
    """Return a mail's text without signature and footer, and unless ``keeps_quotes`` without what it repeats.

    What would leave nothing is left as it is.
    """
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    kept = lines if keeps_quotes else _without_quotes(lines)
    kept = _without_signature(kept)
    words = "\n".join(kept).strip("\n")
    if not words.strip():
        words = "\n".join(lines).strip("\n")
    return re.sub(r"\n{3,}", "\n\n", words)


def _without_quotes(lines: list[str]) -> list[str]:
    cut = _original_at(lines)
    lines = lines[:cut] if any(line.strip() for line in lines[:cut]) else lines
    quoted, (_, says) = _is_quoted(lines), _cut_signatures(lines)
    kept: list[str] = []
    number = 0
    while number < len(lines):
        if not QUOTE.match(lines[number]):
            kept.append(lines[number])
            number += 1
            continue
        end = number
        while end < len(lines) and quoted[end]:
            end += 1
        if says[end] and end - number <= _LONG:
            kept += lines[number:end]
        else:
            _drop_attribution(kept)
        number = end
    return kept


def _is_quoted(lines: list[str]) -> list[bool]:
    """Tell of each line whether it is a quote's; an empty one is, where the quote goes on below."""
    quoted, is_quote = [False] * len(lines), False
    for number in range(len(lines) - 1, -1, -1):
        if lines[number]:
            is_quote = QUOTE.match(lines[number]) is not None
        quoted[number] = is_quote
    return quoted


def _drop_attribution(kept: list[str]) -> None:
    """Take away the lines that tell whose words followed, at most three."""
    while kept and not kept[-1]:
        kept.pop()
    if told := attribution_lines(kept):
        del kept[-told:]


def _original_at(lines: list[str]) -> int:
    """Return where the original begins that Outlook and others put below, without marks; the end when there is none."""
    for number in range(len(lines)):
        if is_original(lines, number):
            above = number
            while above and (not lines[above - 1] or RULE.match(lines[above - 1])):
                above -= 1
            return above
    return len(lines)


def _without_signature(lines: list[str]) -> list[str]:
    """Return the lines without what stands below ``-- `` or the rule of a mailing list's footer, as far as a quote."""
    kept, _ = _cut_signatures(lines)
    while kept and (not kept[-1] or SENT_FROM.match(kept[-1])):
        kept.pop()
    return kept


def _cut_signatures(lines: list[str]) -> tuple[list[str], list[bool]]:
    """Return the lines without signatures, and of each line, and of the end, whether more than those begins there.

    Each line is looked at once, from the last to the first: what people paste into mails has no limit.
    """
    upwards: list[str] = []  # what is kept, last line first
    says = [False] * (len(lines) + 1)
    telling = above_quote = 0
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        is_footer = RULE.match(line) and LIST_FOOTER.search("\n".join(reversed(upwards[-6:])))
        if (line == "--" and above_quote <= _SIGNATURE_LINES) or is_footer:
            for _ in range(above_quote):
                telling -= _is_telling(upwards.pop())
            above_quote = 0
        else:
            upwards.append(line)
            telling += _is_telling(line)
            above_quote = 0 if QUOTE.match(line) else above_quote + 1
        says[number] = telling > 0
    return upwards[::-1], says


def _is_telling(line: str) -> bool:
    return bool(line) and not SENT_FROM.match(line)
