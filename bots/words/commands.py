"""What a platform's list of commands says of each, by language; at most 100 characters (Discord's limit)."""

from collections.abc import Mapping
from typing import Literal, get_args

from bots.platform import CommandName

COMMANDS: tuple[CommandName, ...] = (
    "ask", "research", "summarise", "search", "sources", "sync", "why", "reset", "help",
)  # fmt: skip
NAMED: Mapping[str, CommandName] = {name: name for name in COMMANDS} | {"summarize": "summarise"}
"""The command of each name that somebody may type."""

_DESCRIPTIONS: dict[str, tuple[str, str, str, str, str, str, str, str, str]] = {
    "en": (
        "Ask the documents",
        "Ask what one search can't answer: several rounds",
        "Summarise this thread or channel, with links to the messages",
        "Find passages, without an answer",
        "What has been read, and when",
        "Read the sources now (admins)",
        "How the last answer came about (admins)",
        "Forget this conversation",
        "What I can do",
    ),
    "zh": (
        "就文档内容提问",
        "研究一次检索答不了的问题：分多轮检索",
        "总结本话题或频道，并附上消息链接",
        "只查找段落，不作回答",
        "读过哪些内容、何时读取",
        "立即读取来源（管理员）",
        "上一个回答是如何得出的（管理员）",
        "忘记本次对话",
        "我能做什么",
    ),
    "de": (
        "Frag die Dokumente",
        "Frag, was eine Suche nicht beantwortet: mehrere Runden",
        "Diesen Thread oder Kanal zusammenfassen, mit Links zu den Nachrichten",
        "Stellen finden, ohne eine Antwort",
        "Was gelesen wurde, und wann",
        "Die Quellen jetzt lesen (Admins)",
        "Wie die letzte Antwort zustande kam (Admins)",
        "Dieses Gespräch vergessen",
        "Was ich kann",
    ),
    "fr": (
        "Interroger les documents",
        "Une question qui demande plusieurs recherches",
        "Résumer ce fil ou ce salon, avec des liens vers les messages",
        "Trouver des passages, sans réponse",
        "Ce qui a été lu, et quand",
        "Lire les sources maintenant (admins)",
        "Comment la dernière réponse a été trouvée (admins)",
        "Oublier cette conversation",
        "Ce que je sais faire",
    ),
    "es": (
        "Preguntar a los documentos",
        "Una pregunta que necesita varias búsquedas",
        "Resumir este hilo o canal, con enlaces a los mensajes",
        "Buscar pasajes, sin respuesta",
        "Qué se ha leído y cuándo",
        "Leer las fuentes ahora (administradores)",
        "Cómo se llegó a la última respuesta (administradores)",
        "Olvidar esta conversación",
        "Qué sé hacer",
    ),
    "ja": (
        "文書について質問する",
        "一度の検索では答えられない質問を、何度も検索して調べる",
        "このスレッドまたはチャンネルを、メッセージへのリンク付きで要約する",
        "回答なしで該当箇所を探す",
        "読み込んだ内容と日時",
        "今すぐ文書を読み込む（管理者）",
        "直前の回答の経緯（管理者）",
        "この会話を忘れる",
        "できること",
    ),
    "ko": (
        "문서에 대해 질문하기",
        "한 번의 검색으로 답할 수 없는 질문을 여러 번 검색해 조사하기",
        "이 스레드나 채널을 메시지 링크와 함께 요약하기",
        "답변 없이 구절 찾기",
        "읽은 내용과 시각",
        "지금 문서 읽기 (관리자)",
        "마지막 답변이 나온 과정 (관리자)",
        "이 대화를 잊기",
        "할 수 있는 일",
    ),
    "pt": (
        "Perguntar aos documentos",
        "Uma pergunta que precisa de várias pesquisas",
        "Resumir este tópico ou canal, com ligações para as mensagens",
        "Encontrar passagens, sem resposta",
        "O que foi lido, e quando",
        "Ler as fontes agora (administradores)",
        "Como se chegou à última resposta (administradores)",
        "Esquecer esta conversa",
        "O que sei fazer",
    ),
    "ru": (
        "Спросить у документов",
        "Вопрос, которому нужно несколько поисков",
        "Кратко пересказать эту ветку или канал со ссылками на сообщения",
        "Найти места, без ответа",
        "Что прочитано и когда",
        "Прочитать источники сейчас (администраторы)",
        "Как получен последний ответ (администраторы)",
        "Забыть этот разговор",
        "Что я умею",
    ),
}

_OPTIONS: dict[str, tuple[str, str, str, str, str]] = {
    # In the order of Option.
    "en": (
        "Your question",
        "Where to look; left out: everywhere you may read",
        "Show the answer to you alone",
        "Names of sources; left out: all",
        "Which: since yesterday, since Monday, last 50 messages; left out: the whole thread, or a day",
    ),
    "zh": (
        "您的问题",
        "在哪里查找；留空则查找您可读的全部内容",
        "仅向您显示回答",
        "来源的名称；留空则为全部",
        "范围：昨天以来、周一以来、最近50条消息；留空则为整个话题或一天",
    ),
    "de": (
        "Deine Frage",
        "Wo gesucht wird; ohne Angabe überall, wo du lesen darfst",
        "Die Antwort nur dir zeigen",
        "Namen von Quellen; ohne Angabe alle",
        "Welche: seit gestern, die letzten 50 Nachrichten; ohne Angabe der ganze Thread, oder ein Tag",
    ),
    "fr": (
        "Votre question",
        "Où chercher ; par défaut, partout où vous pouvez lire",
        "Vous seul voyez la réponse",
        "Noms de sources ; par défaut, toutes",
        "Lesquels, en anglais : since Monday ; par défaut, tout le fil, ou un jour",
    ),
    "es": (
        "Tu pregunta",
        "Dónde buscar; por defecto, en todo lo que puedes leer",
        "Mostrar la respuesta solo a ti",
        "Nombres de fuentes; por defecto, todas",
        "Cuáles, en inglés: since Monday; por defecto, todo el hilo, o un día",
    ),
    "ja": (
        "質問",
        "検索する場所（省略時は閲覧できるすべて）",
        "回答を自分だけに表示する",
        "読み込む文書の名前（省略時はすべて）",
        "範囲（英語で：since Monday。省略時はスレッド全体、または1日）",
    ),
    "ko": (
        "질문",
        "찾을 곳 (비우면 읽을 수 있는 모든 곳)",
        "답변을 나에게만 표시",
        "출처 이름 (비우면 모두)",
        "범위 (영어로: since Monday; 비우면 스레드 전체 또는 하루)",
    ),
    "pt": (
        "A sua pergunta",
        "Onde procurar; por omissão, em tudo o que pode ler",
        "Mostrar a resposta só a si",
        "Nomes de fontes; por omissão, todas",
        "Quais, em inglês: since Monday; por omissão, todo o tópico, ou um dia",
    ),
    "ru": (
        "Ваш вопрос",
        "Где искать; по умолчанию везде, где вам можно читать",
        "Показать ответ только вам",
        "Имена источников; по умолчанию все",
        "Какие, по-английски: since Monday; по умолчанию вся ветка или день",
    ),
}

LANGUAGES = tuple(_DESCRIPTIONS)

Option = Literal["question", "knowledge_base", "private", "source", "when"]
OPTIONS: tuple[Option, ...] = get_args(Option)


def description(command: CommandName, language: str = "en") -> str:
    """Return what the command does, in the language, or in English when we do not have it."""
    code = language.replace("_", "-").partition("-")[0].lower()
    return _DESCRIPTIONS.get(code, _DESCRIPTIONS["en"])[COMMANDS.index(command)]


def option_description(option: Option, language: str = "en") -> str:
    """Return what an option of a command takes, as ``description`` does."""
    code = language.replace("_", "-").partition("-")[0].lower()
    return _OPTIONS.get(code, _OPTIONS["en"])[OPTIONS.index(option)]
