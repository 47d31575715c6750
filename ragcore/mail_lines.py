"""Lines of mails that tell where other people's words begin and end: quotes, attributions, originals, signatures. Pure.

The words are those that mail programs write in English, German, French, Spanish, Italian, Dutch, Portuguese, the
Scandinavian languages, Polish, Russian, Finnish, Turkish, Chinese, Japanese and Korean.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parseaddr, parsedate_to_datetime

QUOTE = re.compile(r"^ ?>")
RULE = re.compile(r"^\s*_{20,}\s*$")
LIST_FOOTER = re.compile(r"mailing list|listinfo|unsubscribe|to unsubscribe", re.IGNORECASE)
SENT_FROM = re.compile(
    r"^\s*(?:sent from my \S.{0,40}|von meinem \S.{0,40} gesendet|envoyé de mon \S.{0,40}|"
    r"get outlook for \S.{0,60})\s*$",
    re.I,
)
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
_FROM = re.compile(
    r"^\s*\*?(?:from|von|de|da|van|från|fra|od|от|发件人|差出人)\s*(?::\*?\s+|：\s*)(?P<who>\S.*)", re.IGNORECASE
)
_SENT = re.compile(
    r"^\s*\*?(?:sent|date|gesendet|datum|envoyé|enviado|inviato|verzonden|skickat|sendt|wysłano|дата|отправлено|"
    r"发送时间|送信日時)\s*(?::\*?\s+|：\s*)(?P<when>\S.*)",
    re.IGNORECASE,
)
_ANSWERING = re.compile(
    r"^(?:\s*(?:re|aw|antw|sv|vs|fwd?|wg|tr|rv|r|odp|ynt|回复|答复|转发|返信|转寄)(?:\[\d+\])?\s*[:：])+\s*",
    re.IGNORECASE,
)
_OTHER_FIELD = re.compile(
    r"^\s*\*?(?:to|an|à|para|a|aan|till|til|do|кому|收件人|宛先|cc|bcc|kopie|copie|копия|抄送|subject|betreff|objet|asunto|"
    r"oggetto|onderwerp|assunto|ämne|emne|temat|тема|主题|件名|importance|attachments|anlagen)\s*[:：]",
    re.IGNORECASE,
)
_MOST_ATTRIBUTION = 300
"""Characters of the lines, at most three, that tell whose words follow."""


def attribution_lines(above: Sequence[str]) -> int:
    """Return how many of the lines right above a quote tell whose words follow, 0 to 3; none of them is empty.

    Such a line is broken where it is long; what stands right above the last of its lines is part of it only when it
    begins as it does.
    """
    if not above or not above[-1].endswith((":", "：")):
        return 0
    told = 0
    for count in (1, 2, 3):
        said = " ".join(above[-count:])
        if len(above) < count or not above[-count] or len(said) > _MOST_ATTRIBUTION:
            break
        if _WROTE.search(said):
            told = count
            if _BEGINS.match(above[-count]):
                break
    return told if told and _BEGINS.match(above[-told]) else min(told, 1)


def is_original(lines: Sequence[str], number: int) -> bool:
    """Tell whether at a line the original begins that Outlook and others put below, without marks."""
    line = lines[number]
    if _ORIGINAL.match(line):
        return True
    return bool(_FROM.match(line)) and any(_SENT.match(below) for below in lines[number + 1 : number + 4])


def original_start(lines: Sequence[str], number: int) -> int:
    """Return where the text begins of the original that begins at a line: behind what tells who sent it, and when."""
    while number < len(lines) and (not lines[number] or _is_of_header(lines[number])):
        number += 1
    return number


def _is_of_header(line: str) -> bool:
    return any(pattern.match(line) for pattern in (RULE, _ORIGINAL, _FROM, _SENT, _OTHER_FIELD))


def original_heading(lines: Sequence[str], number: int) -> str:
    """Return who sent the original that begins at a line, and when, as its own lines tell; "" where they don't."""
    near = lines[number : number + 6]
    who = next((found["who"] for line in near if (found := _FROM.match(line))), "")
    when = next((found["when"] for line in near if (found := _SENT.match(line))), "")
    return ", ".join(part.strip(" *") for part in (who, when) if part)


def mail_heading(sender: str, date: str) -> str:
    """Return a mail's heading: who sent it, and when by the sender's clock; of both what its headers tell."""
    name, address = parseaddr(sender)
    at = mail_date(date)
    when = "" if at is None else f"{at:%Y-%m-%d %H:%M} {'UTC' if at.utcoffset() == UTC.utcoffset(None) else f'{at:%z}'}"
    return ", ".join(part for part in (name or address or sender.strip(), when or date.strip()) if part)


def mail_date(value: str) -> datetime | None:
    """Return the time that a ``Date`` header tells, in UTC where it names no zone; None when it tells none."""
    try:
        found = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def plain_subject(subject: str) -> str:
    """Return a thread's subject: a mail's own without ``Re:``, ``Fwd:`` and their like before it."""
    return _ANSWERING.sub("", subject).strip()
