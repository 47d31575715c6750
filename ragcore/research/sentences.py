"""The fixed sentences that readers of a research see, by language; never part of a prompt."""

from typing import Literal, get_args

from ragcore.research.values import LimitName

Said = Literal[
    "rounds",
    "searches",
    "tokens",
    "seconds",
    "broken_off",
    "money",
    "missing",
    "lacking",
    "cut",
    "failed",
    "contradiction",
]
"""``missing`` takes ``what``, ``cut`` and ``failed`` take ``count``; the others take nothing.

``broken_off`` stands in place of ``seconds`` where the time limit ended the writing of the answer.
"""

SAID: tuple[Said, ...] = get_args(Said)

_SENTENCES: dict[str, dict[Said, str]] = {
    "en": {
        "rounds": "The research ended at its limit of rounds, so something may be missing.",
        "searches": "The research ended at its limit of searches, so something may be missing.",
        "tokens": "The research used up what the language model may write and read, so something may be missing.",
        "seconds": "The research ended at its time limit, so something may be missing.",
        "broken_off": "The research came to its time limit before this answer was complete. "
        "A narrower question takes less time.",
        "money": "The research used up what it may cost, so something may be missing.",
        "missing": "Not answered: {what}",
        "lacking": "The research did not find all that it looked for.",
        "cut": "Further sub-questions that were not looked at: {count}.",
        "failed": "Searches that failed: {count}.",
        "contradiction": "The sources contradict each other:",
    },
    "zh": {
        "rounds": "研究已达到轮数上限，结果可能不完整。",
        "searches": "研究已达到搜索次数上限，结果可能不完整。",
        "tokens": "研究已用完语言模型的用量上限，结果可能不完整。",
        "seconds": "研究已达到时间上限，结果可能不完整。",
        "broken_off": "研究在写完本回答之前已达到时间上限。缩小问题的范围可以减少用时。",
        "money": "研究已达到费用上限，结果可能不完整。",
        "missing": "未能回答：{what}",
        "lacking": "研究未能找到所需的全部信息。",
        "cut": "未处理的其他子问题：{count} 个。",
        "failed": "失败的搜索：{count} 次。",
        "contradiction": "来源之间相互矛盾：",
    },
    "de": {
        "rounds": "Die Recherche endete an der Grenze ihrer Runden; es kann etwas fehlen.",
        "searches": "Die Recherche endete an der Grenze ihrer Suchen; es kann etwas fehlen.",
        "tokens": "Die Recherche hat das Maß an Tokens des Sprachmodells aufgebraucht; es kann etwas fehlen.",
        "seconds": "Die Recherche endete an ihrer Zeitgrenze; es kann etwas fehlen.",
        "broken_off": "Die Recherche kam an ihre Zeitgrenze, bevor diese Antwort fertig war. "
        "Eine engere Frage braucht weniger Zeit.",
        "money": "Die Recherche hat aufgebraucht, was sie kosten darf; es kann etwas fehlen.",
        "missing": "Nicht beantwortet: {what}",
        "lacking": "Die Recherche hat nicht alles gefunden, wonach sie gesucht hat.",
        "cut": "Weitere Teilfragen, die nicht untersucht wurden: {count}.",
        "failed": "Fehlgeschlagene Suchen: {count}.",
        "contradiction": "Die Quellen widersprechen einander:",
    },
    "fr": {
        "rounds": "La recherche s’est arrêtée à sa limite de tours ; il peut manquer quelque chose.",
        "searches": "La recherche s’est arrêtée à sa limite de requêtes ; il peut manquer quelque chose.",
        "tokens": "La recherche a épuisé ce que le modèle peut lire et écrire ; il peut manquer quelque chose.",
        "seconds": "La recherche s’est arrêtée à sa limite de temps ; il peut manquer quelque chose.",
        "broken_off": "La recherche a atteint sa limite de temps avant la fin de cette réponse. "
        "Une question plus précise prend moins de temps.",
        "money": "La recherche a épuisé ce qu’elle peut coûter ; il peut manquer quelque chose.",
        "missing": "Sans réponse : {what}",
        "lacking": "La recherche n’a pas trouvé tout ce qu’elle cherchait.",
        "cut": "Autres sous-questions laissées de côté : {count}.",
        "failed": "Requêtes échouées : {count}.",
        "contradiction": "Les sources se contredisent :",
    },
    "es": {
        "rounds": "La investigación terminó en su límite de rondas; puede faltar algo.",
        "searches": "La investigación terminó en su límite de búsquedas; puede faltar algo.",
        "tokens": "La investigación agotó lo que el modelo puede leer y escribir; puede faltar algo.",
        "seconds": "La investigación terminó en su límite de tiempo; puede faltar algo.",
        "broken_off": "La investigación llegó a su límite de tiempo antes de completar esta respuesta. "
        "Una pregunta más concreta lleva menos tiempo.",
        "money": "La investigación agotó lo que puede costar; puede faltar algo.",
        "missing": "Sin respuesta: {what}",
        "lacking": "La investigación no encontró todo lo que buscaba.",
        "cut": "Otras preguntas parciales que no se examinaron: {count}.",
        "failed": "Búsquedas fallidas: {count}.",
        "contradiction": "Las fuentes se contradicen:",
    },
    "ja": {
        "rounds": "調査は回数の上限で終了したため、不足があるかもしれません。",
        "searches": "調査は検索数の上限で終了したため、不足があるかもしれません。",
        "tokens": "言語モデルの使用量の上限に達したため、調査に不足があるかもしれません。",
        "seconds": "調査は時間の上限で終了したため、不足があるかもしれません。",
        "broken_off": "この回答を書き終える前に、調査が時間の上限に達しました。質問を絞ると、より短い時間で済みます。",
        "money": "調査は費用の上限で終了したため、不足があるかもしれません。",
        "missing": "回答できなかった点：{what}",
        "lacking": "調査では、探していた情報のすべては見つかりませんでした。",
        "cut": "調べなかったその他の質問：{count} 件。",
        "failed": "失敗した検索：{count} 件。",
        "contradiction": "出典の内容が互いに矛盾しています：",
    },
    "ko": {
        "rounds": "조사가 라운드 제한에서 끝나 빠진 내용이 있을 수 있습니다.",
        "searches": "조사가 검색 횟수 제한에서 끝나 빠진 내용이 있을 수 있습니다.",
        "tokens": "언어 모델 사용량 제한에 이르러 조사에 빠진 내용이 있을 수 있습니다.",
        "seconds": "조사가 시간 제한에서 끝나 빠진 내용이 있을 수 있습니다.",
        "broken_off": "이 답변을 다 쓰기 전에 조사가 시간 제한에 이르렀습니다. 질문을 좁히면 시간이 덜 걸립니다.",
        "money": "조사가 비용 제한에서 끝나 빠진 내용이 있을 수 있습니다.",
        "missing": "답하지 못한 것: {what}",
        "lacking": "조사에서 찾던 것을 모두 찾지는 못했습니다.",
        "cut": "살펴보지 않은 다른 하위 질문: {count}개.",
        "failed": "실패한 검색: {count}건.",
        "contradiction": "출처들이 서로 모순됩니다:",
    },
    "pt": {
        "rounds": "A pesquisa terminou no seu limite de rondas; pode faltar algo.",
        "searches": "A pesquisa terminou no seu limite de buscas; pode faltar algo.",
        "tokens": "A pesquisa esgotou o que o modelo pode ler e escrever; pode faltar algo.",
        "seconds": "A pesquisa terminou no seu limite de tempo; pode faltar algo.",
        "broken_off": "A pesquisa chegou ao seu limite de tempo antes de completar esta resposta. "
        "Uma pergunta mais concreta leva menos tempo.",
        "money": "A pesquisa esgotou o que pode custar; pode faltar algo.",
        "missing": "Sem resposta: {what}",
        "lacking": "A pesquisa não encontrou tudo o que procurava.",
        "cut": "Outras perguntas parciais que não foram vistas: {count}.",
        "failed": "Buscas que falharam: {count}.",
        "contradiction": "As fontes contradizem-se:",
    },
    "ru": {
        "rounds": "Исследование остановилось на пределе числа раундов; возможны пробелы.",
        "searches": "Исследование остановилось на пределе числа поисков; возможны пробелы.",
        "tokens": "Исследование исчерпало то, что может прочесть и написать языковая модель; возможны пробелы.",
        "seconds": "Исследование остановилось на пределе времени; возможны пробелы.",
        "broken_off": "Исследование достигло предела времени раньше, чем этот ответ был дописан. "
        "Более узкий вопрос займёт меньше времени.",
        "money": "Исследование исчерпало допустимую стоимость; возможны пробелы.",
        "missing": "Без ответа: {what}",
        "lacking": "Исследование нашло не всё, что искало.",
        "cut": "Другие подвопросы, которые не рассматривались: {count}.",
        "failed": "Неудавшиеся поиски: {count}.",
        "contradiction": "Источники противоречат друг другу:",
    },
}

LANGUAGES = tuple(_SENTENCES)


_STARTS = tuple({said.partition("{")[0] for sentences in _SENTENCES.values() for said in sentences.values()})


def is_of_research(note: str) -> bool:
    """Tell whether a note is one of these sentences, in any language, whatever it names or counts."""
    return note.startswith(_STARTS)


def sentence(key: Said | LimitName, language: str, *, what: str = "", count: int = 0) -> str:
    """Return the sentence in the language, or in English when we do not have it."""
    code = language.replace("_", "-").partition("-")[0].lower()
    said = _SENTENCES[code if code in _SENTENCES else "en"][key]
    return said.replace("{count}", str(count)).replace("{what}", what)
