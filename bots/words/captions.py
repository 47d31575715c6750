"""The words on buttons and in short headings, by language; the sentences of an answer are ``ragcore.phrases``."""

from typing import Literal, get_args

Caption = Literal[
    "quotes",
    "stop",
    "share",
    "delete",
    "more",
    "helpful",
    "not_helpful",
    "sources",
    "ask_next",
    "why",
    "wrong",
    "incomplete",
    "outdated",
    "wrong_source",
    "goes_on",
    "show",
    "person",
    "keep",
    "drop",
    "research",
    "steps",
    "sub_questions",
    "passages",
    "nothing",
    "failed",
    "passages_read",
    "others",
]

CAPTIONS: tuple[Caption, ...] = get_args(Caption)

Reason = Literal["wrong", "incomplete", "outdated", "wrong_source"]
REASONS: tuple[Reason, ...] = get_args(Reason)
"""What a reader can say of an answer that did not help, in one tap."""

_WORDS: dict[str, tuple[str, ...]] = {
    # In the order of Caption; at most 24 characters each where a platform's title takes no more.
    "en": (
        "Show quotes", "Stop", "Share", "Delete", "More", "Helpful", "Not helpful", "Sources", "Ask next",
        "What was wrong?", "It is wrong", "Something is missing", "It is out of date", "The source does not fit",
        "(continued)", "Show the answer",
        "Ask a person", "Keep as a document", "Keep no longer",
        "Research it", "Steps", "sub-questions", "passages", "nothing found", "failed",
        "Passages read", "others",
    ),
    "zh": (
        "查看引文", "停止", "分享", "删除", "更多", "有帮助", "没有帮助", "来源", "接着问", "哪里不对？", "内容有误",
        "内容不全", "内容过时", "来源不符", "（续）", "显示回答",
        "请教同事", "存为文档", "不再保留",
        "深入研究", "步骤", "子问题", "段落", "未找到", "失败",
        "已读段落", "其他",
    ),
    "de": (
        "Zitate zeigen", "Stopp", "Teilen", "Löschen", "Mehr", "Hilfreich", "Nicht hilfreich", "Quellen",
        "Weiterfragen", "Was war falsch?",
        "Es ist falsch", "Etwas fehlt", "Es ist veraltet", "Die Quelle passt nicht", "(Fortsetzung)", "Antwort zeigen",
        "Einen Menschen fragen", "Als Dokument behalten", "Nicht länger behalten",
        "Recherchieren", "Schritte", "Teilfragen", "Stellen", "nichts gefunden", "gescheitert",
        "Gelesene Stellen", "andere",
    ),
    "fr": (
        "Voir les citations", "Arrêter", "Partager", "Supprimer", "Plus", "Utile", "Pas utile", "Sources", "Et ensuite",
        "Qu’est-ce qui cloche ?", "C’est faux", "Il manque quelque chose", "C’est dépassé", "La source ne va pas",
        "(suite)", "Voir la réponse",
        "Demander à quelqu’un", "Garder en document", "Ne plus garder",
        "Approfondir", "Étapes", "sous-questions", "passages", "rien trouvé", "échec",
        "Passages lus", "autres",
    ),
    "es": (
        "Ver citas", "Detener", "Compartir", "Borrar", "Más", "Útil", "Poco útil", "Fuentes", "Seguir preguntando",
        "¿Qué estaba mal?", "Es incorrecto", "Falta algo", "Está anticuado", "La fuente no encaja", "(continuación)",
        "Ver la respuesta",
        "Preguntar a alguien", "Guardar como documento", "Dejar de guardar",
        "Investigar", "Pasos", "subpreguntas", "pasajes", "nada encontrado", "falló",
        "Pasajes leídos", "otros",
    ),
    "ja": (
        "引用を表示", "停止", "共有", "削除", "その他", "役に立った", "役に立たない", "出典", "次の質問",
        "何が問題でしたか", "内容が誤り", "内容が不足", "内容が古い", "出典が合わない", "（続き）", "回答を表示",
        "担当者に聞く", "文書として残す", "残さない",
        "詳しく調べる", "手順", "小さな質問", "該当箇所", "見つからず", "失敗",
        "参照した箇所", "その他",
    ),
    "ko": (
        "인용 보기", "중지", "공유", "삭제", "더 보기", "도움이 됨", "도움 안 됨", "출처", "이어서 묻기",
        "무엇이 문제였나요?", "내용이 틀림", "내용이 부족함", "오래된 내용", "출처가 맞지 않음", "(계속)", "답변 보기",
        "담당자에게 묻기", "문서로 남기기", "남기지 않기",
        "자세히 조사하기", "단계", "하위 질문", "구절", "찾지 못함", "실패",
        "읽은 구절", "기타",
    ),
    "pt": (
        "Ver citações", "Parar", "Partilhar", "Apagar", "Mais", "Útil", "Pouco útil", "Fontes", "Perguntar a seguir",
        "O que estava mal?", "Está errado", "Falta algo", "Está desatualizado", "A fonte não serve", "(continuação)",
        "Ver a resposta",
        "Perguntar a alguém", "Guardar como documento", "Deixar de guardar",
        "Investigar", "Passos", "subperguntas", "passagens", "nada encontrado", "falhou",
        "Passagens lidas", "outras",
    ),
    "ru": (
        "Показать цитаты", "Стоп", "Поделиться", "Удалить", "Ещё", "Полезно", "Не помогло", "Источники", "Спросить ещё",
        "Что было не так?", "Это неверно", "Чего-то не хватает", "Это устарело", "Источник не подходит",
        "(продолжение)", "Показать ответ",
        "Спросить человека", "Сохранить документом", "Больше не хранить",
        "Исследовать", "Шаги", "подвопросы", "места", "ничего не найдено", "не удалось",
        "Прочитанные места", "другие",
    ),
}  # fmt: skip

LANGUAGES = tuple(_WORDS)


def caption(key: Caption, language: str = "en") -> str:
    """Return the words in the language (``zh``, ``zh-TW``, ``de_AT``), or in English when we do not have it."""
    code = language.replace("_", "-").partition("-")[0].lower()
    return _WORDS.get(code, _WORDS["en"])[CAPTIONS.index(key)]
