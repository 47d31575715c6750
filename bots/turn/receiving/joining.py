"""Which further message goes on with what its asker has just begun to ask: both are answered as one. Pure."""

from collections.abc import Iterable
from datetime import timedelta

from bots.platform import Incoming, Reach
from bots.turn.commands import command_of
from bots.turn.options import place
from bots.turn.receiving.gate import Refuse
from bots.turn.receiving.order import Job


def opened_just_before(incoming: Incoming, jobs: Iterable[Job], *, within: float) -> Job | None:
    """Return the turn that the same asker opened last in the same channel, at most ``within`` seconds before.

    Where each message opens a conversation of its own, only their times tell that two belong together: what was asked
    minutes apart and arrives at once, after an outage, does not.
    """
    apart = timedelta(seconds=within)
    opened = [
        job
        for job in jobs
        if incoming.opens
        and job.incoming.opens
        and job.incoming.asker.id == incoming.asker.id
        and place(job.incoming.conversation) == place(incoming.conversation)
        and any(abs(incoming.sent_at - one.sent_at) <= apart for one in job.messages.values())
    ]
    return max(opened, key=lambda job: job.touched, default=None)


def goes_on(incoming: Incoming, job: Job, refusal: Refuse | None, now: float, *, within: float) -> bool:
    """Return whether a message, or the ``refusal`` that it meets, goes on with a turn.

    Args:
        incoming: The message.
        job: The turn.
        refusal: Why the message is not answered, if so.
        now: The loop's time at which it came.
        within: So many seconds may be between two messages of one question.
    """
    first = job.incoming
    return (
        first.asker.id == incoming.asker.id
        and (first.private, first.seen_by) == (incoming.private, incoming.seen_by)
        and Reach.COMMAND not in (first.reach, incoming.reach)
        and incoming.command in (None, first.command)  # a research is one from its first message on
        and now - job.touched < within
        and not (job.spoken.is_set() or job.sending or job.stopped or job.withdrawn or job.lost)
        and command_of(incoming, incoming.text) is None
        and command_of(first, job.question) is None
        and _ends_alike(job, refusal)
    )


def _ends_alike(job: Job, refusal: Refuse | None) -> bool:
    """Return whether a job ends as a further message does: both are answered, or both came too late."""
    return job.refusal == refusal and (refusal is None or refusal.word == "late")
