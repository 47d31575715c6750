"""What a mail says itself, without what it repeats and without its signature. Pure.

What is repeated is left out only where the mail that it is from stands in the same document.
"""

import re

_LONG = 8
"""Lines that an answer may repeat in its middle or at its top: what it is about, and not the whole mail."""
_SIGNATURE_LINES = 15
_QUOTE = re.compile(r"^ ?>")
_WROTE = re.compile(
    r"(?:wrote|writes|schrieb|schreibt|a écrit|écrivait|escribió|ha scritto|scrisse|schreef|escreveu|skrev|"
    r"napisał\(?a?\)?|написал\(?а?\)?|пишет|пише|kirjoitti|yazdı|写道|さんは書きました|님이 작성)"
    r"[^\n]{0,80}$|\d{4}[^\n]{0,80}:\s*$",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"\s*(?:(?:on|am|le|el|il|op|em|den|w dniu|в|пн|вт|ср|чт|пт|сб|вс)[\s,.:]|\d{1,4}\D)", re.IGNORECASE
)
"""How the line begins that tells whose words follow: with "on" and its like, or a date."""
_ORIGINAL = re.compile(
    r"^\s*-{2,}\s*(?:original message|original appointment|ursprüngliche nachricht|originalnachricht|message d.origine|"
    r"mensaje original|messaggio originale|oorspronkelijk bericht|mensagem original|исходное сообщение|原始邮件)"
    r"\s*-{2,}\s*$",
    re.IGNORECASE,
)
_FROM = re.compile(r"^\s*\*?(?:from|von|de|da|van|från|fra|od|от|发件人|差出人)\s*:\*?\s+\S", re.IGNORECASE)
_SENT = re.compile(
    r"^\s*\*?(?:sent|date|gesendet|datum|envoyé|enviado|inviato|verzonden|skickat|sendt|wysłano|дата|отправлено|发送时间|送信日時)"
    r"\s*:\*?\s+\S",
    re.IGNORECASE,
)
_RULE = re.compile(r"^\s*_{20,}\s*$")
_LIST_FOOTER = re.compile(r"mailing list|listinfo|unsubscribe|to unsubscribe", re.IGNORECASE)
_SENT_FROM = re.compile(
    r"^\s*(?:sent from my \S.{0,40}|von meinem \S.{0,40} gesendet|envoyé de mon \S.{0,40}|"
    r"get outlook for \S.{0,60})\s*$",
    re.I,
)


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
    kept: list[str] = []
    number = 0
    while number < len(lines):
        if not _QUOTE.match(lines[number]):
            kept.append(lines[number])
            number += 1
            continue
        end = number
        while end < len(lines) and (_QUOTE.match(lines[end]) or (not lines[end] and _goes_on(lines, end))):
            end += 1
        rest = [line for line in _without_signature(lines[end:]) if line.strip()]
        if rest and end - number <= _LONG:
            kept += lines[number:end]
        else:
            _drop_attribution(kept)
        number = end
    return kept


def _goes_on(lines: list[str], number: int) -> bool:
    """Tell whether below an empty line the quote goes on."""
    following = next((line for line in lines[number:] if line), "")
    return _QUOTE.match(following) is not None


def _drop_attribution(kept: list[str]) -> None:
    """Take away the lines that tell whose words followed, at most three."""
    while kept and not kept[-1]:
        kept.pop()
    if not kept or not kept[-1].endswith((":", "：")):
        return
    told = 0
    for count in (1, 2, 3):
        said = " ".join(kept[-count:])
        if len(kept) < count or not kept[-count] or len(said) > 300:
            break
        if _WROTE.search(said):
            told = count
            if _BEGINS.match(kept[-count]):
                break
    # Such a line is broken where it is long; what stands right above the last of its lines is part of it only when it
    # begins as it does.
    first = told if told and _BEGINS.match(kept[-told]) else min(told, 1)
    if first:
        del kept[-first:]


def _original_at(lines: list[str]) -> int:
    """Return where the original begins that Outlook and others put below, without marks; the end when there is none."""
    for number, line in enumerate(lines):
        if _ORIGINAL.match(line):
            return number
        if _FROM.match(line) and any(_SENT.match(below) for below in lines[number + 1 : number + 4]):
            above = number
            while above and (not lines[above - 1] or _RULE.match(lines[above - 1])):
                above -= 1
            return above
    return len(lines)


def _without_signature(lines: list[str]) -> list[str]:
    """Return the lines without what stands below ``-- `` or the rule of a mailing list's footer, as far as a quote."""
    kept = list(lines)
    for number in range(len(kept) - 1, -1, -1):
        line, below = kept[number], kept[number + 1 :]
        end = next((at for at, one in enumerate(below) if _QUOTE.match(one)), len(below))
        is_footer = _RULE.match(line) and _LIST_FOOTER.search("\n".join(below[:6]))
        if (line == "--" and end <= _SIGNATURE_LINES) or is_footer:
            kept = kept[:number] + below[end:]
    while kept and (not kept[-1] or _SENT_FROM.match(kept[-1])):
        kept.pop()
    return kept
