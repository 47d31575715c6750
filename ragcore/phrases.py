"""The fixed sentences that readers see, by language; never part of a prompt."""

from typing import Literal, get_args

Phrase = Literal[
    "empty_response",
    "unsupported",
    "length_cut",
    "no_model",
    "interrupted",
    "model_down",
    "model_busy",
    "rate_limited",
    "model_set_up_wrong",
    "model_failed",
    "model_declined",
    "model_refused",
    "not_allowed",
    "small_talk",
    "withheld",
    "quoted",
    "index_rebuilding",
]
"""``rate_limited`` takes ``seconds`` and tells them in a fitting unit; the others take nothing."""

PHRASES: tuple[Phrase, ...] = get_args(Phrase)

_SENTENCES: dict[str, dict[Phrase, str]] = {
    "en": {
        "empty_response": "I found nothing about this in the documents.",
        "unsupported": "No document supports this answer.",
        "length_cut": "The answer was cut off at its length limit.",
        "no_model": "No language model is set up, so these are sentences quoted from the documents.",
        "interrupted": "The answer broke off here. Please ask again.",
        "model_down": "The language model cannot be reached right now. Please try again later.",
        "model_busy": "The language model is busy. Please try again later.",
        "rate_limited": "The language model is busy. Please try again in about {wait}.",
        "model_set_up_wrong": "The language model is not set up correctly. Please tell an administrator.",
        "model_failed": "The language model gave no usable answer.",
        "model_declined": "The language model declined to go on.",
        "model_refused": "The language model declined to answer this question.",
        "not_allowed": "There are no documents here that you may read. Please ask an administrator.",
        "small_talk": "Happy to help! Ask me about the documents, and I will answer with links to the passages.",
        "withheld": "No document supports what the model answered, so the answer is not shown.",
        "quoted": "These are sentences quoted from the documents.",
        "index_rebuilding": "Part of the search is unavailable right now, so this answer may leave documents out.",
    },
    "zh": {
        "empty_response": "文档中没有找到相关内容。",
        "unsupported": "没有文档可以支持这个回答。",
        "length_cut": "回答达到长度上限，已被截断。",
        "no_model": "尚未配置语言模型，以下内容摘自文档原文。",
        "interrupted": "回答到此中断，请重新提问。",
        "model_down": "暂时无法连接语言模型，请稍后再试。",
        "model_busy": "语言模型繁忙，请稍后再试。",
        "rate_limited": "语言模型繁忙，请在约 {wait}后再试。",
        "model_set_up_wrong": "语言模型的配置有误，请告知管理员。",
        "model_failed": "语言模型未能给出可用的回答。",
        "model_declined": "语言模型拒绝继续回答。",
        "model_refused": "语言模型拒绝回答这个问题。",
        "not_allowed": "这里没有您可以阅读的文档，请联系管理员。",
        "small_talk": "很高兴为您服务！您可以就文档内容向我提问，我会回答并附上出处链接。",
        "withheld": "模型的回答没有任何文档支持，因此不予显示。",
        "quoted": "以下内容摘自文档原文。",
        "index_rebuilding": "部分检索功能暂时不可用，本回答可能遗漏部分文档。",
    },
    "de": {
        "empty_response": "Dazu habe ich in den Dokumenten nichts gefunden.",
        "unsupported": "Kein Dokument belegt diese Antwort.",
        "length_cut": "Die Antwort hat die Längengrenze erreicht und ist abgeschnitten.",
        "no_model": "Es ist kein Sprachmodell eingerichtet; dies sind Sätze aus den Dokumenten.",
        "interrupted": "Die Antwort ist hier abgebrochen. Bitte frag noch einmal.",
        "model_down": "Das Sprachmodell ist gerade nicht erreichbar. Bitte versuch es später noch einmal.",
        "model_busy": "Das Sprachmodell ist ausgelastet. Bitte versuch es später noch einmal.",
        "rate_limited": "Das Sprachmodell ist ausgelastet. Bitte versuch es in etwa {wait} noch einmal.",
        "model_set_up_wrong": "Das Sprachmodell ist nicht richtig eingerichtet. Bitte sag der Administration Bescheid.",
        "model_failed": "Das Sprachmodell hat keine brauchbare Antwort gegeben.",
        "model_declined": "Das Sprachmodell hat es abgelehnt, weiter zu antworten.",
        "model_refused": "Das Sprachmodell hat es abgelehnt, diese Frage zu beantworten.",
        "not_allowed": "Hier gibt es keine Dokumente, die du lesen darfst. Bitte wende dich an die Administration.",
        "small_talk": "Ich helfe gern! Frag mich etwas zu den Dokumenten; ich antworte mit Links zu den Fundstellen.",
        "withheld": "Kein Dokument belegt, was das Modell geantwortet hat. Die Antwort wird deshalb nicht gezeigt.",
        "quoted": "Dies sind Sätze aus den Dokumenten.",
        "index_rebuilding": "Ein Teil der Suche ist gerade nicht verfügbar. In dieser Antwort können Dokumente fehlen.",
    },
    "fr": {
        "empty_response": "Je n’ai rien trouvé à ce sujet dans les documents.",
        "unsupported": "Aucun document n’étaye cette réponse.",
        "length_cut": "La réponse a atteint la longueur maximale et a été coupée.",
        "no_model": "Aucun modèle de langage n’est configuré : voici des phrases tirées des documents.",
        "interrupted": "La réponse s’est interrompue ici. Veuillez reposer votre question.",
        "model_down": "Le modèle de langage est injoignable pour le moment. Veuillez réessayer plus tard.",
        "model_busy": "Le modèle de langage est très sollicité. Veuillez réessayer plus tard.",
        "rate_limited": "Le modèle de langage est très sollicité. Veuillez réessayer dans environ {wait}.",
        "model_set_up_wrong": "Le modèle de langage est mal configuré. Veuillez en informer l’administration.",
        "model_failed": "Le modèle de langage n’a pas donné de réponse utilisable.",
        "model_declined": "Le modèle de langage a refusé de poursuivre.",
        "model_refused": "Le modèle de langage a refusé de répondre à cette question.",
        "not_allowed": "Il n’y a ici aucun document que vous puissiez lire. Veuillez vous adresser à l’administration.",
        "small_talk": "À votre service ! Posez-moi une question sur les documents ; je répondrai avec des liens.",
        "withheld": "Aucun document n’étaye la réponse du modèle ; elle n’est donc pas affichée.",
        "quoted": "Voici des phrases tirées des documents.",
        "index_rebuilding": "Une partie de la recherche est indisponible ; cette réponse peut omettre des documents.",
    },
    "es": {
        "empty_response": "No he encontrado nada sobre esto en los documentos.",
        "unsupported": "Ningún documento respalda esta respuesta.",
        "length_cut": "La respuesta se cortó al llegar a su longitud máxima.",
        "no_model": "No hay ningún modelo de lenguaje configurado: estas son frases tomadas de los documentos.",
        "interrupted": "La respuesta se interrumpió aquí. Por favor, vuelva a preguntar.",
        "model_down": "Ahora mismo no se puede contactar con el modelo de lenguaje. Inténtelo más tarde.",
        "model_busy": "El modelo de lenguaje está ocupado. Inténtelo más tarde.",
        "rate_limited": "El modelo de lenguaje está ocupado. Inténtelo de nuevo en unos {wait}.",
        "model_set_up_wrong": "El modelo de lenguaje no está bien configurado. Por favor, avise a un administrador.",
        "model_failed": "El modelo de lenguaje no dio una respuesta utilizable.",
        "model_declined": "El modelo de lenguaje se negó a continuar.",
        "model_refused": "El modelo de lenguaje se negó a responder a esta pregunta.",
        "not_allowed": "Aquí no hay documentos que pueda leer. Por favor, consulte a un administrador.",
        "small_talk": "¡A su servicio! Pregúnteme algo sobre los documentos y responderé con enlaces a los pasajes.",
        "withheld": "Ningún documento respalda lo que respondió el modelo, por lo que no se muestra.",
        "quoted": "Estas son frases tomadas de los documentos.",
        "index_rebuilding": "Parte de la búsqueda no está disponible ahora; en la respuesta pueden faltar documentos.",
    },
    "ja": {
        "empty_response": "文書の中に該当する内容は見つかりませんでした。",
        "unsupported": "この回答を裏付ける文書はありません。",
        "length_cut": "回答は長さの上限で打ち切られました。",
        "no_model": "言語モデルが設定されていないため、文書から引用した文を示します。",
        "interrupted": "回答がここで途切れました。もう一度お尋ねください。",
        "model_down": "現在、言語モデルに接続できません。しばらくしてからもう一度お試しください。",
        "model_busy": "言語モデルが混み合っています。しばらくしてからもう一度お試しください。",
        "rate_limited": "言語モデルが混み合っています。約 {wait}後にもう一度お試しください。",
        "model_set_up_wrong": "言語モデルの設定に誤りがあります。管理者にお知らせください。",
        "model_failed": "言語モデルから利用できる回答が得られませんでした。",
        "model_declined": "言語モデルは回答の続きを拒否しました。",
        "model_refused": "言語モデルはこの質問への回答を拒否しました。",
        "not_allowed": "ここには閲覧できる文書がありません。管理者にお問い合わせください。",
        "small_talk": "お役に立てれば幸いです。文書についてご質問ください。出典へのリンクを付けてお答えします。",
        "withheld": "モデルの回答を裏付ける文書がないため、表示を控えました。",
        "quoted": "文書から引用した文を示します。",
        "index_rebuilding": "検索の一部が現在利用できないため、一部の文書が反映されていない可能性があります。",
    },
    "ko": {
        "empty_response": "문서에서 관련 내용을 찾지 못했습니다.",
        "unsupported": "이 답변을 뒷받침하는 문서가 없습니다.",
        "length_cut": "답변이 길이 제한에 이르러 잘렸습니다.",
        "no_model": "언어 모델이 설정되어 있지 않아 문서에서 인용한 문장을 보여 드립니다.",
        "interrupted": "답변이 여기서 끊겼습니다. 다시 질문해 주세요.",
        "model_down": "지금은 언어 모델에 연결할 수 없습니다. 잠시 후 다시 시도해 주세요.",
        "model_busy": "언어 모델에 요청이 몰려 있습니다. 잠시 후 다시 시도해 주세요.",
        "rate_limited": "언어 모델에 요청이 몰려 있습니다. 약 {wait} 후에 다시 시도해 주세요.",
        "model_set_up_wrong": "언어 모델이 올바르게 설정되어 있지 않습니다. 관리자에게 알려 주세요.",
        "model_failed": "언어 모델이 쓸 수 있는 답변을 내놓지 못했습니다.",
        "model_declined": "언어 모델이 답변을 계속하기를 거부했습니다.",
        "model_refused": "언어 모델이 이 질문에 답변하기를 거부했습니다.",
        "not_allowed": "여기에는 읽을 수 있는 문서가 없습니다. 관리자에게 문의해 주세요.",
        "small_talk": "기꺼이 도와드리겠습니다! 문서에 대해 질문하시면 출처 링크와 함께 답해 드립니다.",
        "withheld": "모델의 답변을 뒷받침하는 문서가 없어 표시하지 않습니다.",
        "quoted": "문서에서 인용한 문장을 보여 드립니다.",
        "index_rebuilding": "지금 검색의 일부를 쓸 수 없어 일부 문서가 빠졌을 수 있습니다.",
    },
    "pt": {
        "empty_response": "Não encontrei nada sobre isto nos documentos.",
        "unsupported": "Nenhum documento sustenta esta resposta.",
        "length_cut": "A resposta atingiu o limite de comprimento e foi cortada.",
        "no_model": "Não há um modelo de linguagem configurado: estas são frases retiradas dos documentos.",
        "interrupted": "A resposta foi interrompida aqui. Por favor, pergunte de novo.",
        "model_down": "De momento não é possível contactar o modelo de linguagem. Tente mais tarde.",
        "model_busy": "O modelo de linguagem está ocupado. Tente mais tarde.",
        "rate_limited": "O modelo de linguagem está ocupado. Tente de novo dentro de cerca de {wait}.",
        "model_set_up_wrong": "O modelo de linguagem não está bem configurado. Por favor, avise um administrador.",
        "model_failed": "O modelo de linguagem não deu uma resposta utilizável.",
        "model_declined": "O modelo de linguagem recusou-se a continuar.",
        "model_refused": "O modelo de linguagem recusou-se a responder a esta pergunta.",
        "not_allowed": "Não há aqui documentos que possa ler. Por favor, contacte um administrador.",
        "small_talk": "Às ordens! Pergunte-me algo sobre os documentos e responderei com ligações para as passagens.",
        "withheld": "Nenhum documento sustenta o que o modelo respondeu, por isso a resposta não é mostrada.",
        "quoted": "Estas são frases retiradas dos documentos.",
        "index_rebuilding": "Parte da pesquisa não está disponível agora; podem faltar documentos nesta resposta.",
    },
    "ru": {
        "empty_response": "В документах об этом ничего не найдено.",
        "unsupported": "Ни один документ не подтверждает этот ответ.",
        "length_cut": "Ответ достиг предельной длины и обрезан.",
        "no_model": "Языковая модель не настроена, поэтому здесь приведены предложения из документов.",
        "interrupted": "Ответ здесь оборвался. Пожалуйста, задайте вопрос ещё раз.",
        "model_down": "Языковая модель сейчас недоступна. Пожалуйста, попробуйте позже.",
        "model_busy": "Языковая модель занята. Пожалуйста, попробуйте позже.",
        "rate_limited": "Языковая модель занята. Пожалуйста, попробуйте снова примерно через {wait}.",
        "model_set_up_wrong": "Языковая модель настроена неправильно. Пожалуйста, сообщите администратору.",
        "model_failed": "Языковая модель не дала пригодного ответа.",
        "model_declined": "Языковая модель отказалась продолжать.",
        "model_refused": "Языковая модель отказалась отвечать на этот вопрос.",
        "not_allowed": "Здесь нет документов, доступных вам для чтения. Обратитесь к администратору.",
        "small_talk": "Рад помочь! Задайте мне вопрос по документам, и я отвечу со ссылками на источники.",
        "withheld": "Ни один документ не подтверждает ответ модели, поэтому он не показан.",
        "quoted": "Здесь приведены предложения из документов.",
        "index_rebuilding": "Часть поиска сейчас недоступна, поэтому в ответе могут быть учтены не все документы.",
    },
}

_UNITS = {
    "en": ("{} seconds", "{} minutes", "{} hours"),
    "zh": ("{} 秒", "{} 分钟", "{} 小时"),
    "de": ("{} Sekunden", "{} Minuten", "{} Stunden"),
    "fr": ("{} secondes", "{} minutes", "{} heures"),
    "es": ("{} segundos", "{} minutos", "{} horas"),
    "ja": ("{} 秒", "{} 分", "{} 時間"),
    "ko": ("{}초", "{}분", "{}시간"),
    "pt": ("{} segundos", "{} minutos", "{} horas"),
    "ru": ("{} с", "{} мин", "{} ч"),
}

LANGUAGES = tuple(_SENTENCES)


def is_spoken(language: str) -> bool:
    """Tell whether there are sentences in a language, however its name is written (``zh``, ``zh-TW``, ``de_AT``)."""
    return _code(language) in _SENTENCES


def _code(language: str) -> str:
    return language.replace("_", "-").partition("-")[0].lower()


def phrase(key: Phrase, language: str = "en", *, seconds: int = 0) -> str:
    """Return the sentence in the language (``zh``, ``zh-TW``, ``de_AT``), or in English when we do not have it."""
    known = _code(language) if is_spoken(language) else "en"
    return _SENTENCES[known][key].replace("{wait}", _wait(seconds, known))


def _wait(seconds: int, language: str) -> str:
    """Return a time to wait in the unit in which it is at least two, rounded up; never less than two seconds."""
    most = max(2, seconds)
    unit, length = next((unit, length) for unit, length in ((2, 3600), (1, 60), (0, 1)) if most >= 2 * length)
    return _UNITS[language][unit].format(-(-most // length))
