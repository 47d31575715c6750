"""The bot's own sentences where a question goes to a person, by language; ``{name}`` is filled in.

None of them is ever part of a prompt.
"""

from typing import Literal, get_args

PeopleWord = Literal[
    "asked",
    "already",
    "limited",
    "refused",
    "card",
    "card_answer",
    "card_hidden",
    "card_passages",
    "card_reply",
    "reply",
    "file_stays",
    "only_words",
    "sent",
    "not_sent",
    "kept",
    "dropped",
    "not_owner",
    "not_reached",
]
PEOPLE_WORDS: tuple[PeopleWord, ...] = get_args(PeopleWord)

_SENTENCES: dict[str, dict[PeopleWord, str]] = {
    "en": {
        "asked": (
            "Your question goes to the people who look after these documents, without your name. What they reply comes "
            "to you; they may keep both as a document."
        ),
        "already": "They have been asked already. What they reply comes here.",
        "limited": "You have taken many questions to people within a day. Please try again tomorrow.",
        "refused": "Only whoever asked it can take this question to a person, and only while it is remembered.",
        "card": "The documents of {base} do not answer this question well:",
        "card_answer": "What I answered:",
        "card_hidden": "What I answered rests on documents that are not open to all who read here.",
        "card_passages": "What I had read:",
        "card_reply": (
            "Reply to this message: what you write goes to whoever asked, unless it begins with a mention of somebody. "
            "After that it can be kept as a document, with the question as its title."
        ),
        "reply": "{name} has an answer to “{title}”:",
        "file_stays": "What is attached was not sent along: {name} has it.",
        "only_words": "Only the words go to whoever asked, and into a document, with the names of what is attached.",
        "sent": "Sent to whoever asked. Kept as a document, it answers whoever asks next: “{title}”.",
        "not_sent": "This could not be sent to whoever asked. It can be kept as a document all the same: “{title}”.",
        "kept": "This is a document now, which whoever may read {base} can find: “{title}”.",
        "dropped": "This is no document any longer: “{title}”.",
        "not_owner": "Only the people who look after these documents can decide that.",
        "not_reached": "The people who look after these documents could not be reached. Please tell an administrator.",
    },
    "zh": {
        "asked": "您的问题会转给负责这些文档的同事，不附姓名。他们的回复会发给您；问题和回复也可能存为文档。",
        "already": "已经请教过他们了，回复会发到这里。",
        "limited": "您一天之内已经请教了很多次，请明天再试。",
        "refused": "只有提问者本人可以把这个问题转给同事，而且要在我还记得它的时候。",
        "card": "{base} 的文档没有很好地回答这个问题：",
        "card_answer": "我的回答：",
        "card_hidden": "我的回答所依据的文档并非对这里的所有人开放。",
        "card_passages": "我读过的内容：",
        "card_reply": (
            "请回复这条消息：您写的内容会转给提问者（以 @某人 开头的除外）。之后可以把它存为文档，标题就是这个问题。"
        ),
        "reply": "{name} 回答了“{title}”：",
        "file_stays": "附件没有一并转来，可以向 {name} 索取。",
        "only_words": "转给提问者和存入文档的只有文字，以及附件的名称。",
        "sent": "已转给提问者。存为文档后，下一位提问者就能得到回答：“{title}”。",
        "not_sent": "没能转给提问者，但仍然可以存为文档：“{title}”。",
        "kept": "这已是一份文档，凡是可以阅读 {base} 的人都能找到：“{title}”。",
        "dropped": "这不再是一份文档：“{title}”。",
        "not_owner": "只有负责这些文档的同事可以决定。",
        "not_reached": "没能联系上负责这些文档的同事，请告诉管理员。",
    },
    "de": {
        "asked": (
            "Deine Frage geht ohne deinen Namen an die, die sich um diese Dokumente kümmern. Ihre Antwort kommt zu "
            "dir; sie können beides als Dokument behalten."
        ),
        "already": "Sie sind schon gefragt. Was sie antworten, kommt hierher.",
        "limited": "Du hast an einem Tag viele Fragen an Menschen gegeben. Bitte versuche es morgen wieder.",
        "refused": (
            "Nur wer diese Frage gestellt hat, kann sie an einen Menschen geben, und nur, solange ich sie noch weiß."
        ),
        "card": "Die Dokumente von {base} beantworten diese Frage nicht gut:",
        "card_answer": "Was ich geantwortet habe:",
        "card_hidden": "Was ich geantwortet habe, beruht auf Dokumenten, die nicht allen hier offenstehen.",
        "card_passages": "Was ich gelesen hatte:",
        "card_reply": (
            "Antwortet auf diese Nachricht: Was ihr schreibt, geht an die Person, die gefragt hat, außer es beginnt "
            "mit der Erwähnung von jemandem. Danach kann es als Dokument behalten werden, mit der Frage als Titel."
        ),
        "reply": "{name} hat eine Antwort auf „{title}“:",
        "file_stays": "Was angehängt ist, wurde nicht mitgeschickt: {name} hat es.",
        "only_words": "Nur die Worte gehen an den, der gefragt hat, und in ein Dokument, mit den Namen der Anhänge.",
        "sent": (
            "An die Person geschickt, die gefragt hat. Als Dokument behalten, antwortet es auch denen, die als Nächste "
            "fragen: „{title}“."
        ),
        "not_sent": (
            "Das konnte der Person, die gefragt hat, nicht geschickt werden. Es kann trotzdem als Dokument behalten "
            "werden: „{title}“."
        ),
        "kept": "Das ist jetzt ein Dokument, das finden kann, wer {base} lesen darf: „{title}“.",
        "dropped": "Das ist kein Dokument mehr: „{title}“.",
        "not_owner": "Das können nur die entscheiden, die sich um diese Dokumente kümmern.",
        "not_reached": (
            "Die, die sich um diese Dokumente kümmern, waren nicht zu erreichen. Bitte sag es einem Administrator."
        ),
    },
}

LANGUAGES = tuple(_SENTENCES)


def people_word(key: PeopleWord, language: str = "en", **values: str) -> str:
    """Return the sentence in the language (``zh``, ``zh-TW``, ``de_AT``), in English when we do not have it."""
    code = language.replace("_", "-").partition("-")[0].lower()
    sentence = _SENTENCES.get(code, _SENTENCES["en"])[key]
    # Not str.format: a value may hold braces.
    for name, value in values.items():
        sentence = sentence.replace(f"{{{name}}}", value)
    return sentence
