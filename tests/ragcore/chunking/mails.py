"""Mailboxes in mbox form, as the tests write them."""

from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime

FIRST_DAY = datetime(2026, 3, 1, 9, tzinfo=UTC)


def mail(
    number: int, body: str, *, answers: int | None = None, who: str = "Ann", subject: str = "Valve", html: bool = False
) -> bytes:
    """Return a mail of a mailbox, in HTML alone or plain: number 3 was sent three days after the first day."""
    message = EmailMessage()
    message["Message-ID"] = f"<{number}@x.org>"
    message["From"] = f"{who} <{who.lower()}@x.org>"
    message["To"] = "all@x.org"
    message["Subject"] = subject
    message["Date"] = format_datetime(FIRST_DAY + timedelta(days=number))
    if answers is not None:
        message["In-Reply-To"] = f"<{answers}@x.org>"
    message.set_content(body, subtype="html" if html else "plain")
    return b"From x@x.org Sun Mar  1 09:00:00 2026\n" + message.as_bytes() + b"\n"
