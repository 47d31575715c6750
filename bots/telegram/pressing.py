"""What happens when a button under an answer is pressed."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from aiogram.types import CallbackQuery, InlineKeyboardMarkup, Message

from bots.pictures import Picture
from bots.platform import Inbox
from bots.presses import Presses
from bots.rendering.actions import Act, Action, read_action
from bots.rendering.picture_captions import captions
from bots.rendering.telegram import render_telegram, render_telegram_quotes, telegram_reasons
from bots.telegram.calling import Calls, keyboard, when_allowed
from bots.telegram.translating import PLATFORM, reader_of, seen_by
from bots.turn.replying.fallbacks import rendered
from bots.votes import Vote
from bots.words.people import people_word
from bots.words.sentences import word
from ragcore.errors import CitebotError, PlatformError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Quoted:
    """The message in which passages are shown, and who reads it."""

    chat: str
    topic: str
    message: str
    readers: frozenset[str]


GroupsOf = Callable[[str], Awaitable[frozenset[str]]]
"""Tells the groups that somebody is in, of those that the settings name as readers."""


def pressed_by(query: CallbackQuery) -> tuple[str, str, str]:
    """Return who pressed, on which message, and what its button says (``Presses.one``)."""
    message = f"{query.message.chat.id}/{query.message.message_id}" if query.message is not None else ""
    return str(query.from_user.id), message, query.data or ""


async def press(query: CallbackQuery, inbox: Inbox, calls: Calls, groups_of: GroupsOf, presses: Presses) -> None:
    """Do what the button says, and let the client's spinner stop whatever comes of it.

    A question on a button (``pressed_question``) is not asked here.
    """
    action = read_action(query.data or "")
    told = ""
    quoted: _Quoted | None = None
    try:
        with presses.one(*pressed_by(query)) as is_first:
            if is_first and action is not None and isinstance(query.message, Message):
                if action.act is Act.QUOTES:
                    quoted = await _show_quotes(action, query, query.message, inbox, calls, groups_of)
                    told = "" if quoted else word("quotes_gone", inbox.language(query.from_user.language_code or ""))
                else:
                    told = await _do(action, query, query.message, inbox, calls)
    except CitebotError as error:
        language = inbox.language(query.from_user.language_code or "")
        told = word("went_wrong", language)
        if action is not None and action.reference:
            told = f"{told} {word('reference', language, reference=action.reference)}"
        log.warning("a button of turn %s could not be served: %s", action.reference if action else "?", error)
    finally:
        await calls.quietly(lambda: query.answer(told or None))
    if quoted is not None and action is not None:
        await _illustrate(quoted, await inbox.pictures(action.reference, quoted.readers), calls)


async def _do(action: Action, query: CallbackQuery, message: Message, inbox: Inbox, calls: Calls) -> str:
    by, language = str(query.from_user.id), inbox.language(query.from_user.language_code or "")
    match action.act:
        case Act.UP:
            await inbox.vote(Vote(reference=action.reference, voter=reader_of(query.from_user.id), side="up"))
            await when_allowed(lambda: calls.rekey(message, _without_reasons(message)))
            return "👍"
        case Act.DOWN:
            await inbox.vote(Vote(reference=action.reference, voter=reader_of(query.from_user.id), side="down"))
            person = await inbox.may_ask_person(action.reference, by)
            keys = _with_reasons(message, action.reference, language, person=person)
            await when_allowed(lambda: calls.rekey(message, keys))
            return "👎"
        case Act.REASON:
            vote = Vote(
                reference=action.reference, voter=reader_of(query.from_user.id), side="down", reason=action.value
            )
            await inbox.vote(vote)
            await when_allowed(lambda: calls.rekey(message, _without_reasons(message)))
            return "👎"
        case Act.STOP:
            await inbox.stop(action.reference, by)
        case Act.DELETE:
            await inbox.withdraw(action.reference, by)
        case Act.PERSON | Act.KEEP | Act.DROP:
            return await _about_people(action, query, message, inbox, language)
        case Act.ASK | Act.RESEARCH | Act.SHARE:
            pass  # asked already; not on this platform: nothing here is for one person alone where others read along
    return ""


async def _about_people(action: Action, query: CallbackQuery, message: Message, inbox: Inbox, language: str) -> str:
    """Take a question to a person, or let what one replied be a document or none; at most 200 characters are told."""
    if action.act is Act.PERSON:
        return people_word(await inbox.ask_person(action.reference, str(query.from_user.id)), language)
    here, who = f"{PLATFORM}:{message.chat.id}", reader_of(query.from_user.id)
    kept = await inbox.keep_reply(action.reference, who, here, kept=action.act is Act.KEEP)
    return "" if kept else people_word("not_owner", language)


async def _show_quotes(
    action: Action, query: CallbackQuery, message: Message, inbox: Inbox, calls: Calls, groups_of: GroupsOf
) -> _Quoted | None:
    """Show the cited passages under the answer; None where they are gone."""
    readers = seen_by(message.chat, query.from_user.id)
    if message.chat.type == "private":
        readers |= await groups_of(str(query.from_user.id))
    view = await inbox.quotes(action.reference, readers)
    if view is None:
        return None
    topic = str(message.message_thread_id) if message.is_topic_message else ""
    reply_to = str(message.message_id)
    for part in await rendered(render_telegram_quotes, view):
        post = partial(calls.post, str(message.chat.id), part, topic=topic, reply_to=reply_to, silent=True)
        reply_to = (await when_allowed(post)).id
    return _Quoted(chat=str(message.chat.id), topic=topic, message=reply_to, readers=readers)


async def _illustrate(quoted: _Quoted, pictures: tuple[Picture, ...], calls: Calls) -> None:
    """Show pictures below the passages, each with its caption; where that fails, it is for the log alone."""
    for picture in pictures:
        (words, *_) = render_telegram(captions((picture,)))
        post = partial(calls.show, quoted.chat, picture, words.html, topic=quoted.topic, reply_to=quoted.message)
        try:
            await when_allowed(post)
        except PlatformError as error:
            log.info("passages are shown without pictures: %s", error)
            return


def _with_reasons(message: Message, reference: str, language: str, *, person: bool = False) -> InlineKeyboardMarkup:
    asked = keyboard(telegram_reasons(reference, language, person=person))
    rows = [*_without_reasons(message).inline_keyboard, *(asked.inline_keyboard if asked else [])]
    return InlineKeyboardMarkup(inline_keyboard=rows)


def _without_reasons(message: Message) -> InlineKeyboardMarkup:
    rows = message.reply_markup.inline_keyboard if message.reply_markup else []
    return InlineKeyboardMarkup(
        inline_keyboard=[row for row in rows if not any(_is_reason(button.callback_data) for button in row)]
    )


def _is_reason(data: str | None) -> bool:
    action = read_action(data or "")
    return action is not None and action.act is Act.REASON
