"""The fixed sentences around a summary of what was said, by language; never part of a prompt."""

from typing import Literal, get_args

from bots.platform import CommandName
from bots.words.sentences import word

GistWord = Literal[
    "reading",
    "thread",
    "channel",
    "nothing",
    "nothing_telling",
    "not_understood",
    "unreadable",
    "wait",
    "late",
    "newest",
    "heard",
    "hidden",
    "always",
    "future",
    "threads",
    "cut",
    "joined",
    "off",
    "help",
]
GIST_WORDS: tuple[GistWord, ...] = get_args(GistWord)

_SENTENCES: dict[str, dict[GistWord, str]] = {
    "en": {
        "reading": "Reading the messages …",
        "thread": "This thread, {first} to {last} ({zone}). Messages: {count}, people: {people}.",
        "channel": "This channel, {first} to {last} ({zone}). Messages: {count}, people: {people}.",
        "nothing": "There is nothing to summarise: I found no message here from {first} to {last} ({zone}).",
        "nothing_telling": "There is nothing to summarise in the {count} messages from {first} to {last} ({zone}).",
        "not_understood": (
            "I did not understand “{words}”. I summarise only the thread or channel where you ask. Write for example "
            "“summarise this thread”, “summarise this channel since Monday”, “since yesterday”, “today”, "
            "“since 2026-11-20”, “last 3 hours” or “last 50 messages”."
        ),
        "unreadable": (
            "I cannot read what was said here: both of us must be in this channel and allowed to read its history. "
            "If I am not in it yet, please invite me."
        ),
        "wait": "I may not read more messages just now. Please ask again in {seconds} seconds.",
        "late": "The messages could not be read in time. Please ask again, or for fewer of them.",
        "newest": "There are more messages in this time; the newest {count} were read.",
        "heard": (
            "Bots can read nothing back here: this is what I heard myself and kept, for a week at most. What was "
            "deleted since may still be in it."
        ),
        "hidden": "Messages that do not mention me show me no words here, so they are missing.",
        "always": "the beginning",
        "future": "There is nothing to summarise yet: {first} ({zone}) is still to come.",
        "threads": "Not all threads of this channel were read. In a thread I can summarise it by itself.",
        "cut": "Of long messages the first {count} characters were read.",
        "joined": "What was said before the newest member joined is left out: new members cannot read it here.",
        "off": "Summaries are not switched on here.",
        "help": "- `summarise this channel since Monday` tells what was said, with links",
    },
    "zh": {
        "reading": "正在读取消息……",
        "thread": "本话题，{first} 至 {last}（{zone}）。消息 {count} 条，参与者 {people} 人。",
        "channel": "本频道，{first} 至 {last}（{zone}）。消息 {count} 条，参与者 {people} 人。",
        "nothing": "没有可总结的内容：{first} 至 {last}（{zone}）之间，我在这里没有找到消息。",
        "nothing_telling": "{first} 至 {last}（{zone}）之间的 {count} 条消息中没有可总结的内容。",
        "not_understood": (
            "我没明白“{words}”。我只能总结您提问所在的话题或频道。例如可以写：“总结本话题”“总结这个频道周一以来的消息”"
            "“昨天以来”“今天”“2026-11-20 以来”“最近3小时”或“最近50条消息”。"
        ),
        "unreadable": "我无法读取这里的消息：您和我都必须在此频道中，并有权查看历史消息。如果我还不在，请邀请我。",
        "wait": "暂时不能读取更多消息，请 {seconds} 秒后再试。",
        "late": "未能及时读取消息。请重试，或缩小范围。",
        "newest": "这段时间内还有更多消息；已读取最新的 {count} 条。",
        "heard": "机器人在这里无法回看消息：以上是我亲自看到并保留的内容，最多保留一周。此后被删除的消息可能仍在其中。",
        "hidden": "未提及我的消息，我在这里看不到内容，因此缺失。",
        "always": "最初",
        "future": "还没有可总结的内容：{first}（{zone}）尚未到来。",
        "threads": "并未读取本频道的所有话题。您可以在某个话题中让我单独总结它。",
        "cut": "较长的消息只读取了前 {count} 个字符。",
        "joined": "最新成员加入之前的内容未包括在内：新成员在这里看不到这些消息。",
        "off": "此处未启用总结功能。",
        "help": "- `总结本频道周一以来的消息` 概述大家说了什么，并附上链接",
    },
    "de": {
        "reading": "Ich lese die Nachrichten …",
        "thread": "Dieser Thread, {first} bis {last} ({zone}). Nachrichten: {count}, Personen: {people}.",
        "channel": "Dieser Kanal, {first} bis {last} ({zone}). Nachrichten: {count}, Personen: {people}.",
        "nothing": "Es gibt nichts zusammenzufassen: Von {first} bis {last} ({zone}) habe ich hier nichts gefunden.",
        "nothing_telling": "In {count} Nachrichten von {first} bis {last} ({zone}) gibt es nichts zusammenzufassen.",
        "not_understood": (
            "„{words}“ habe ich nicht verstanden. Ich fasse nur den Thread oder Kanal zusammen, in dem du fragst. "
            "Schreib zum Beispiel „fass diesen Thread zusammen“, „fass den Kanal seit Montag zusammen“, "
            "„seit gestern“, „heute“, „seit 20.11.2026“, „die letzten 3 Stunden“ oder „die letzten 50 Nachrichten“."
        ),
        "unreadable": (
            "Ich kann nicht lesen, was hier gesagt wurde: Wir müssen beide in diesem Kanal sein und seinen Verlauf "
            "lesen dürfen. Wenn ich noch nicht darin bin, lad mich bitte ein."
        ),
        "wait": "Gerade darf ich keine Nachrichten mehr lesen. Bitte frag in {seconds} Sekunden noch einmal.",
        "late": "Die Nachrichten ließen sich nicht rechtzeitig lesen. Bitte frag noch einmal, oder nach weniger.",
        "newest": "In dieser Zeit gibt es mehr Nachrichten; gelesen wurden die neuesten {count}.",
        "heard": (
            "Bots können hier nichts nachlesen: Das ist, was ich selbst gehört und behalten habe, höchstens eine Woche "
            "lang. Was seither gelöscht wurde, kann noch darin sein."
        ),
        "hidden": "Nachrichten, die mich nicht erwähnen, zeigen mir hier keine Worte und fehlen deshalb.",
        "always": "dem Anfang",
        "future": "Noch gibt es nichts zusammenzufassen: {first} ({zone}) liegt in der Zukunft.",
        "threads": "Nicht alle Threads dieses Kanals wurden gelesen. In einem Thread fasse ich ihn für sich zusammen.",
        "cut": "Von langen Nachrichten wurden die ersten {count} Zeichen gelesen.",
        "joined": "Was vor dem Beitritt des neuesten Mitglieds gesagt wurde, fehlt: Neue können es hier nicht lesen.",
        "off": "Zusammenfassungen sind hier nicht eingeschaltet.",
        "help": "- `fass den Kanal seit Montag zusammen` sagt, was gesagt wurde, mit Links",
    },
}

LANGUAGES = tuple(_SENTENCES)


SEARCHING: frozenset[CommandName | None] = frozenset({"ask", "research", "summarise", "search"})
"""The commands that read something first."""


def begun(command: CommandName | None, language: str) -> str:
    """Return the first sign that a command is at work."""
    return gist_word("reading", language) if command == "summarise" else word("searching", language)


def gist_word(key: GistWord, language: str = "en", **values: str | int) -> str:
    """Return the sentence in the language, in English when we do not have it."""
    code = language.replace("_", "-").partition("-")[0].lower()
    sentence = _SENTENCES[code if code in _SENTENCES else "en"][key]
    # Not str.format: a value may hold braces.
    for name, value in values.items():
        sentence = sentence.replace(f"{{{name}}}", str(value))
    return sentence
