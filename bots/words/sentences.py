"""The bot's own fixed sentences, by language; what ragcore.phrases says of answers stands there.

``{name}`` is filled in by ``word``. None of them is ever part of a prompt.
"""

from typing import Literal, get_args

from ragcore.answer.small_talk import small_talk_language
from ragcore.citations.languages import tongue
from ragcore.phrases import is_spoken

Word = Literal[
    "waiting",
    "waits",
    "waits_behind",
    "began_late",
    "reading",
    "looking",
    "searching",
    "searching_in",
    "planning",
    "researching",
    "judging",
    "writing",
    "checking",
    "too_slow",
    "went_wrong",
    "index_down",
    "late",
    "stopped",
    "too_long",
    "not_here",
    "ask_whom",
    "line_to_add",
    "user_limit",
    "channel_limit",
    "research_limit",
    "research_off",
    "no_documents",
    "no_such_base",
    "cannot_read",
    "file_too_large",
    "file_not_read",
    "file_left_out",
    "forgotten",
    "mention_needed",
    "reference",
    "no_such_field",
    "ask_otherwise",
    "help",
    "help_research",
    "greeting",
    "help_prompt",
    "sources_prompt",
    "sources_head",
    "never_read",
    "document",
    "documents",
    "read_ago",
    "last_read",
    "with_chunks",
    "read_again",
    "pauses",
    "last_fault",
    "fault_documents",
    "fault_auth",
    "fault_rate_limited",
    "fault_gone",
    "fault_unreachable",
    "fault_bad_reply",
    "fault_other",
    "sync_admins",
    "sync_begun",
    "sync_done",
    "sync_none",
    "why_admins",
    "why_gone",
    "search_empty",
    "quotes_gone",
    "page_gone",
    "unsure",
    "not_shared",
    "unsent",
    "source_refused",
    "platform_down",
]
WORDS: tuple[Word, ...] = get_args(Word)

_SENTENCES: dict[str, dict[Word, str]] = {
    "en": {
        "waiting": "The question before yours comes first …",
        "waits": "I am still on the question before yours; yours comes next.",
        "waits_behind": "There are still {count} questions before yours; I answer them one by one.",
        "began_late": "I could begin with your question only late; I am working on it now.",
        "reading": "Reading the question …",
        "looking": "Looking at the picture …",
        "searching": "Searching the documents …",
        "searching_in": "Searching {names} …",
        "planning": "Planning the searches …",
        "researching": "Searching: {what} …",
        "judging": "Judging what was found …",
        "writing": "Writing …",
        "checking": "Checking the sources …",
        "too_slow": "There was no answer in time. Please ask again, or ask for less at once.",
        "went_wrong": "Something went wrong. Please try again; if it happens again, tell an administrator.",
        "index_down": "The documents cannot be searched right now. Please try again in a few minutes.",
        "late": "I was not there when you asked. If you still want to know, please ask again.",
        "stopped": "Stopped.",
        "too_long": "This is too long for a question. Please ask in fewer words, or attach the text as a file.",
        "not_here": "I do not answer in this channel. Please ask in another one, or in a direct message.",
        "ask_whom": "You can ask {admins}.",
        "line_to_add": "There are no documents here that you may read. To change that, write in citebot.toml:",
        "user_limit": "You have asked a lot just now. Please wait {seconds} seconds and ask again.",
        "channel_limit": "A lot was asked in this channel just now. Please wait {seconds} seconds and ask again.",
        "research_limit": "You have had a lot researched lately. Please wait {minutes} min, or just ask.",
        "research_off": "Research is not switched on here. Please just ask.",
        "no_documents": "I have not read any documents yet, so I cannot answer. Please tell an administrator.",
        "no_such_base": "I know no knowledge base of the name {name} here. Write “sources” to see which there are.",
        "cannot_read": "I can't read this kind of file: {name}.",
        "file_too_large": "This file is too large for me: {name}.",
        "file_not_read": "I could not read this file just now: {name}.",
        "file_left_out": "I read {count} files beside a question, so I left this out: {name}.",
        "forgotten": "Forgotten. We begin anew.",
        "mention_needed": "In this thread I only see messages that mention me.",
        "reference": "Reference: {reference}",
        "no_such_field": "No document here has a field {field}. Among those there are: {fields}.",
        "ask_otherwise": "Please ask in other words, or write “sources” to see what I have read.",
        "help": (
            "Ask me about the documents, in your own words; I answer with links to the passages. You can go on asking: "
            "I remember what was said in this conversation.\n\n"
            "- `search …` finds passages, without an answer\n"
            "- `sources` tells what I have read\n"
            "- `reset` makes me forget this conversation\n"
            "- `help` shows this"
        ),
        "help_research": "- `research: …` takes several rounds, for what one search can't answer",
        "greeting": "Hello! Ask me about the documents, and I will answer with links to the passages.",
        "help_prompt": "help",
        "sources_prompt": "sources",
        "sources_head": "What I have read:",
        "never_read": ": {documents}, not read yet",
        "document": "{count} document",
        "documents": "{count} documents",
        "read_ago": ": {documents}, read {age} ago",
        "last_read": "last read {age} ago",
        "with_chunks": "{documents} ({count} chunks)",
        "read_again": ", next in {age}",
        "pauses": ", paused",
        "last_fault": "; the last attempt: {why}",
        "fault_documents": "some documents could not be read",
        "fault_auth": "its credential was refused",
        "fault_rate_limited": "it asked to be left alone for a while",
        "fault_gone": "it is not where it should be",
        "fault_unreachable": "it could not be reached",
        "fault_bad_reply": "it answered with something else than was due",
        "fault_other": "something went wrong",
        "sync_admins": "Only admins may sync.",
        "sync_begun": "Syncing {names} …; “sources” tells how it went.",
        "sync_done": ": {added} added, {changed} changed, {deleted} deleted, {unchanged} unchanged, {failed} failed",
        "sync_none": "There is no source to sync.",
        "why_admins": "Only admins are told how an answer came about.",
        "why_gone": (
            "How this answer came about is not known any more: it is kept for a day, until a restart or until the "
            "conversation is forgotten."
        ),
        "search_empty": "I found no passage that fits. Please try other words.",
        "quotes_gone": "These passages are no longer at hand.",
        "page_gone": "This answer is no longer at hand. Please ask again.",
        "unsure": "I was interrupted while I sent the answer. If it does not stand above, you can have it shown here:",
        "not_shared": "This is not shown here: not everybody who would see it may read what it rests on.",
        "unsent": "An answer could not be sent: {why}.",
        "source_refused": "Source {name} pauses until its credential is changed or a sync by hand works: {why}",
        "platform_down": "{name} doesn't work: {why}",
    },
    "zh": {
        "waiting": "正在先回答前一个问题……",
        "waits": "我还在处理您之前的那个问题，接下来就回答您的问题。",
        "waits_behind": "您的问题之前还有 {count} 个问题，我会逐一回答。",
        "began_late": "刚刚才轮到您的问题，正在处理。",
        "reading": "正在理解问题……",
        "looking": "正在查看图片……",
        "searching": "正在检索文档……",
        "searching_in": "正在检索 {names}……",
        "planning": "正在规划检索……",
        "researching": "正在检索：{what}……",
        "judging": "正在评估检索结果……",
        "writing": "正在撰写……",
        "checking": "正在核对出处……",
        "too_slow": "未能及时得到回答。请重新提问，或把问题拆小一些。",
        "went_wrong": "出了点问题，请重试；如果再次发生，请把编号告知管理员。",
        "index_down": "暂时无法检索文档，请几分钟后再试。",
        "late": "您提问时我不在线。如果仍需要回答，请重新提问。",
        "stopped": "已停止。",
        "too_long": "问题太长了。请用更少的文字提问，或以文件形式附上内容。",
        "not_here": "我不在此频道中回答问题。请在其他频道或私信中提问。",
        "ask_whom": "您可以联系 {admins}。",
        "line_to_add": "这里没有您可以阅读的文档。如需更改，请在 citebot.toml 中写入：",
        "user_limit": "您刚才提问较多，请等待 {seconds} 秒后再提问。",
        "channel_limit": "此频道刚才提问较多，请等待 {seconds} 秒后再提问。",
        "research_limit": "您最近的研究较多，请等待 {minutes} 分钟，或直接提问。",
        "research_off": "此处未启用研究功能，请直接提问。",
        "no_documents": "我还没有读取任何文档，因此无法回答。请告知管理员。",
        "no_such_base": "这里没有名为 {name} 的知识库。发送“来源”可查看有哪些。",
        "cannot_read": "我无法读取这种文件：{name}。",
        "file_too_large": "文件太大，我无法读取：{name}。",
        "file_not_read": "刚才未能读取此文件：{name}。",
        "file_left_out": "每个问题我最多读取 {count} 个文件，因此未读取：{name}。",
        "forgotten": "已忘记，我们重新开始。",
        "mention_needed": "在此话题中，我只能看到提及我的消息。",
        "reference": "编号：{reference}",
        "no_such_field": "这里没有文档带有字段 {field}。已有的字段包括：{fields}。",
        "ask_otherwise": "请换个说法再问，或发送“来源”查看我读过的内容。",
        "help": (
            "请直接就文档内容向我提问，我会回答并附上出处链接。您可以继续追问，我会记住本次对话的内容。\n\n"
            "- `搜索 …` 只查找段落，不作回答\n"
            "- `来源` 列出我读过的内容\n"
            "- `重置` 让我忘记本次对话\n"
            "- `帮助` 显示此说明"
        ),
        "help_research": "- `研究：…` 分多轮检索，用于一次检索答不了的问题",
        "greeting": "您好！请就文档内容向我提问，我会回答并附上出处链接。",
        "help_prompt": "帮助",
        "sources_prompt": "来源",
        "sources_head": "我读过的内容：",
        "never_read": "：{documents}，尚未读取",
        "document": "{count} 篇文档",
        "documents": "{count} 篇文档",
        "read_ago": "：{documents}，{age}前读取",
        "last_read": "{age}前读取",
        "with_chunks": "{documents}（{count} 个片段）",
        "read_again": "，{age}后再次读取",
        "pauses": "，已暂停",
        "last_fault": "；最近一次：{why}",
        "fault_documents": "部分文档无法读取",
        "fault_auth": "凭据被拒绝",
        "fault_rate_limited": "对方要求稍后再试",
        "fault_gone": "不在原来的位置",
        "fault_unreachable": "无法连接",
        "fault_bad_reply": "返回的内容不符合预期",
        "fault_other": "出现了错误",
        "sync_admins": "只有管理员可以同步。",
        "sync_begun": "正在同步 {names} ……发送“来源”可查看结果。",
        "sync_done": "：新增 {added}，更改 {changed}，删除 {deleted}，未变 {unchanged}，失败 {failed}",
        "sync_none": "没有可同步的来源。",
        "why_admins": "只有管理员可以查看回答是如何得出的。",
        "why_gone": ("已无从得知该回答是如何得出的：相关记录只保留一天，重启或忘记对话后即删除。"),
        "search_empty": "没有找到合适的段落，请换个词试试。",
        "quotes_gone": "这些段落已无法显示。",
        "page_gone": "此回答已无法显示，请重新提问。",
        "unsure": "发送回答时中断了。如果上方没有回答，可在此显示：",
        "not_shared": "未予分享：能看到它的人并非都有权阅读其出处。",
        "unsent": "有一条回答未能发送：{why}。",
        "source_refused": "来源 {name} 已暂停，更换凭据或手动同步成功后继续：{why}",
        "platform_down": "{name} 无法工作：{why}",
    },
    "de": {
        "waiting": "Die Frage vor deiner kommt zuerst …",
        "waits": "Ich bin noch bei der Frage vor deiner; deine kommt als Nächstes.",
        "waits_behind": "Vor deiner Frage sind noch {count} andere; ich beantworte eine nach der anderen.",
        "began_late": "Mit deiner Frage konnte ich erst spät anfangen; ich bin jetzt dabei.",
        "reading": "Ich lese die Frage …",
        "looking": "Ich sehe mir das Bild an …",
        "searching": "Ich durchsuche die Dokumente …",
        "searching_in": "Ich durchsuche {names} …",
        "planning": "Ich plane die Suchen …",
        "researching": "Ich suche: {what} …",
        "judging": "Ich prüfe, was gefunden wurde …",
        "writing": "Ich schreibe …",
        "checking": "Ich prüfe die Quellen …",
        "too_slow": "Es kam nicht rechtzeitig eine Antwort. Bitte frag noch einmal, oder nach weniger auf einmal.",
        "went_wrong": "Etwas ist schiefgegangen. Bitte versuch es noch einmal, oder sag der Administration Bescheid.",
        "index_down": "Die Dokumente lassen sich gerade nicht durchsuchen. Bitte versuch es gleich noch einmal.",
        "late": "Als du gefragt hast, war ich nicht da. Wenn du es noch wissen willst, frag bitte noch einmal.",
        "stopped": "Angehalten.",
        "too_long": "Das ist zu lang für eine Frage. Bitte frag mit weniger Worten, oder häng den Text als Datei an.",
        "not_here": "In diesem Kanal antworte ich nicht. Frag bitte in einem anderen, oder in einer Direktnachricht.",
        "ask_whom": "Du kannst {admins} fragen.",
        "line_to_add": "Hier gibt es keine Dokumente, die du lesen darfst. Um das zu ändern, schreib in citebot.toml:",
        "user_limit": "Du hast gerade viel gefragt. Bitte warte {seconds} Sekunden und frag dann noch einmal.",
        "channel_limit": "In diesem Kanal wurde gerade viel gefragt. Bitte warte {seconds} Sekunden.",
        "research_limit": "Du hast zuletzt viel recherchieren lassen. Bitte warte {minutes} min, oder frag einfach.",
        "research_off": "Recherchen sind hier nicht eingeschaltet. Frag bitte einfach.",
        "no_documents": "Ich habe noch keine Dokumente gelesen. Bitte sag der Administration Bescheid.",
        "no_such_base": "Eine Wissensbasis namens {name} kenne ich hier nicht. Schreib „Quellen“ für eine Liste.",
        "cannot_read": "Diese Art von Datei kann ich nicht lesen: {name}.",
        "file_too_large": "Diese Datei ist mir zu groß: {name}.",
        "file_not_read": "Diese Datei konnte ich gerade nicht lesen: {name}.",
        "file_left_out": "Ich lese {count} Dateien neben einer Frage; ausgelassen habe ich: {name}.",
        "forgotten": "Vergessen. Wir fangen von vorn an.",
        "mention_needed": "In diesem Thread sehe ich nur Nachrichten, die mich erwähnen.",
        "reference": "Referenz: {reference}",
        "no_such_field": "Kein Dokument hier hat ein Feld {field}. Felder, die es gibt, sind unter anderen: {fields}.",
        "ask_otherwise": "Frag mit anderen Worten, oder schreib „Quellen“, um zu sehen, was ich gelesen habe.",
        "help": (
            "Frag mich in deinen Worten etwas zu den Dokumenten; ich antworte mit Links zu den Fundstellen. Du kannst "
            "weiterfragen: Ich merke mir, was in diesem Gespräch gesagt wurde.\n\n"
            "- `suche …` findet Stellen, ohne eine Antwort\n"
            "- `quellen` sagt, was ich gelesen habe\n"
            "- `zurücksetzen` lässt mich dieses Gespräch vergessen\n"
            "- `hilfe` zeigt dies"
        ),
        "help_research": "- `recherche: …` sucht in mehreren Runden, was eine Suche nicht beantwortet",
        "greeting": "Hallo! Frag mich etwas zu den Dokumenten; ich antworte mit Links zu den Fundstellen.",
        "help_prompt": "hilfe",
        "sources_prompt": "quellen",
        "sources_head": "Was ich gelesen habe:",
        "never_read": ": {documents}, noch nicht gelesen",
        "document": "{count} Dokument",
        "documents": "{count} Dokumente",
        "read_ago": ": {documents}, gelesen vor {age}",
        "last_read": "zuletzt gelesen vor {age}",
        "with_chunks": "{documents} ({count} Abschnitte)",
        "read_again": ", wieder in {age}",
        "pauses": ", ruht",
        "last_fault": "; zuletzt: {why}",
        "fault_documents": "einige Dokumente konnten nicht gelesen werden",
        "fault_auth": "ihr Zugang wurde abgelehnt",
        "fault_rate_limited": "sie bat um eine Pause",
        "fault_gone": "sie ist nicht dort, wo sie sein sollte",
        "fault_unreachable": "sie war nicht zu erreichen",
        "fault_bad_reply": "sie antwortete mit etwas anderem als erwartet",
        "fault_other": "etwas ging schief",
        "sync_admins": "Abgleichen dürfen nur Admins.",
        "sync_begun": "Gleiche {names} ab …; „quellen“ sagt, was daraus geworden ist.",
        "sync_done": ": {added} neu, {changed} geändert, {deleted} gelöscht, {unchanged} gleich, {failed} gescheitert",
        "sync_none": "Es gibt keine Quelle zum Abgleichen.",
        "why_admins": "Nur Admins erfahren, wie eine Antwort zustande kam.",
        "why_gone": (
            "Wie diese Antwort zustande kam, ist nicht mehr bekannt: Es wird einen Tag behalten, bis zu einem Neustart "
            "oder bis das Gespräch vergessen wird."
        ),
        "search_empty": "Ich habe keine passende Stelle gefunden. Bitte versuch es mit anderen Worten.",
        "quotes_gone": "Diese Stellen sind nicht mehr zur Hand.",
        "page_gone": "Diese Antwort ist nicht mehr zur Hand. Bitte frag noch einmal.",
        "unsure": "Beim Senden der Antwort wurde ich unterbrochen. Steht sie nicht oben, zeige ich sie dir hier:",
        "not_shared": "Das wird hier nicht gezeigt: Nicht alle, die es sähen, dürfen lesen, worauf es beruht.",
        "unsent": "Eine Antwort konnte nicht gesendet werden: {why}.",
        "source_refused": "Quelle {name} ruht, bis ihr Zugang geändert ist oder ein Abgleich von Hand gelingt: {why}",
        "platform_down": "{name} geht nicht: {why}",
    },
}
_AGES: dict[str, tuple[str, str, str, str]] = {
    "en": ("a moment", "{n} min", "{n} h", "{n} d"),
    "zh": ("片刻", "{n} 分钟", "{n} 小时", "{n} 天"),
    "de": ("einem Augenblick", "{n} min", "{n} h", "{n} d"),
}

LANGUAGES = tuple(_SENTENCES)


def word(key: Word, language: str = "en", **values: str | int) -> str:
    """Return the sentence in the language (``zh``, ``zh-TW``, ``de_AT``), in English when we do not have it."""
    sentence = _SENTENCES.get(_code(language), _SENTENCES["en"])[key]
    # Not str.format: a value may hold braces.
    for name, value in values.items():
        sentence = sentence.replace(f"{{{name}}}", str(value))
    return sentence


def age(seconds: float, language: str = "en") -> str:
    """Return how long something is ago, in its largest unit."""
    units = _AGES.get(_code(language), _AGES["en"])
    for unit, length in ((units[3], 86_400), (units[2], 3_600), (units[1], 60)):
        if seconds >= length:
            return unit.replace("{n}", str(int(seconds // length)))
    return units[0]


def language_for(text: str, told: str, fixed: str = "") -> str:
    """Return the language in which somebody is answered with our own sentences.

    Args:
        text: What they wrote: its script decides, or its small words, where they tell another language than English.
        told: The language of their client, as the platform tells it.
        fixed: The one that the settings ask for, if any.
    """
    if fixed:
        return fixed
    if not text.strip():
        return told or "en"
    command = text.split(maxsplit=1)[0].strip("/.!").casefold()
    written = small_talk_language(text) or _COMMANDS.get(command) or tongue(text)
    if written in _OTHER_SCRIPTS or (is_spoken(written) and written != "en"):
        return written
    # English is written by many; whoever has set their client to another language of its letters reads that.
    return told if told and _code(told) not in _OTHER_SCRIPTS else "en"


_COMMANDS = dict.fromkeys(
    ("hilfe", "quellen", "zurücksetzen", "suche", "fass", "fasse", "zusammenfassen", "zusammenfassung"), "de"
)
"""Commands that tell the language of whoever writes them, by their first word."""


_OTHER_SCRIPTS = frozenset({"zh", "ja", "ko", "ru", "uk", "bg", "ar", "fa", "he", "el", "hi", "th"})


def _code(language: str) -> str:
    return language.replace("_", "-").partition("-")[0].lower()
