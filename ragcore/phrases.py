"""The fixed sentences that readers see, by language; never part of a prompt."""

from typing import Literal, get_args

Phrase = Literal[
    "empty_response",
    "unsupported",
    "length_cut",
    "no_model",
    "interrupted",
    "model_down",
    "rate_limited",
    "not_allowed",
]
"""``rate_limited`` takes ``seconds``; the others take nothing."""

PHRASES: tuple[Phrase, ...] = get_args(Phrase)

_SENTENCES: dict[str, dict[Phrase, str]] = {
    "en": {
        "empty_response": "I found nothing about this in the documents.",
        "unsupported": "No document supports this answer.",
        "length_cut": "The answer was cut off at its length limit.",
        "no_model": "No language model is configured: these are sentences quoted from the documents.",
        "interrupted": "The answer broke off here. Please ask again.",
        "model_down": "The language model cannot be reached right now. Please try again later.",
        "rate_limited": "The language model is busy. Please try again in about {seconds} s.",
        "not_allowed": "There are no documents here that you may read. Please ask an administrator.",
    },
    "zh": {
        "empty_response": "文档中没有找到相关内容。",
        "unsupported": "没有文档能够支持这个回答。",
        "length_cut": "回答达到长度上限，已被截断。",
        "no_model": "尚未配置语言模型：以下是文档原文的摘录。",
        "interrupted": "回答在此中断，请重新提问。",
        "model_down": "暂时无法连接语言模型，请稍后再试。",
        "rate_limited": "语言模型繁忙，请在约 {seconds} 秒后再试。",
        "not_allowed": "这里没有您可以阅读的文档，请联系管理员。",
    },
    "de": {
        "empty_response": "Dazu habe ich in den Dokumenten nichts gefunden.",
        "unsupported": "Kein Dokument belegt diese Antwort.",
        "length_cut": "Die Antwort wurde an der Längengrenze abgeschnitten.",
        "no_model": "Es ist kein Sprachmodell eingerichtet: Dies sind Sätze aus den Dokumenten.",
        "interrupted": "Die Antwort ist hier abgebrochen. Bitte frag noch einmal.",
        "model_down": "Das Sprachmodell ist gerade nicht erreichbar. Bitte versuch es später noch einmal.",
        "rate_limited": "Das Sprachmodell ist ausgelastet. Bitte versuch es in etwa {seconds} s noch einmal.",
        "not_allowed": "Hier gibt es keine Dokumente, die du lesen darfst. Bitte wende dich an die Administration.",
    },
    "fr": {
        "empty_response": "Je n’ai rien trouvé à ce sujet dans les documents.",
        "unsupported": "Aucun document n’étaye cette réponse.",
        "length_cut": "La réponse a été coupée à sa longueur maximale.",
        "no_model": "Aucun modèle de langage n’est configuré : voici des phrases citées des documents.",
        "interrupted": "La réponse s’est interrompue ici. Veuillez reposer votre question.",
        "model_down": "Le modèle de langage est injoignable pour le moment. Veuillez réessayer plus tard.",
        "rate_limited": "Le modèle de langage est très sollicité. Veuillez réessayer dans environ {seconds} s.",
        "not_allowed": "Il n’y a ici aucun document que vous puissiez lire. Veuillez vous adresser à l’administration.",
    },
    "es": {
        "empty_response": "No he encontrado nada sobre esto en los documentos.",
        "unsupported": "Ningún documento respalda esta respuesta.",
        "length_cut": "La respuesta se cortó al llegar a su longitud máxima.",
        "no_model": "No hay ningún modelo de lenguaje configurado: estas son frases citadas de los documentos.",
        "interrupted": "La respuesta se interrumpió aquí. Por favor, vuelva a preguntar.",
        "model_down": "Ahora mismo no se puede contactar con el modelo de lenguaje. Inténtelo más tarde.",
        "rate_limited": "El modelo de lenguaje está ocupado. Inténtelo de nuevo en unos {seconds} s.",
        "not_allowed": "Aquí no hay documentos que pueda leer. Por favor, consulte a un administrador.",
    },
    "ja": {
        "empty_response": "文書の中に該当する内容は見つかりませんでした。",
        "unsupported": "この回答を裏付ける文書はありません。",
        "length_cut": "回答は長さの上限で打ち切られました。",
        "no_model": "言語モデルが設定されていないため、文書からの抜粋を示します。",
        "interrupted": "回答がここで途切れました。もう一度お尋ねください。",
        "model_down": "現在、言語モデルに接続できません。しばらくしてからお試しください。",
        "rate_limited": "言語モデルが混み合っています。約 {seconds} 秒後にもう一度お試しください。",
        "not_allowed": "ここには閲覧できる文書がありません。管理者にお問い合わせください。",
    },
    "ko": {
        "empty_response": "문서에서 관련 내용을 찾지 못했습니다.",
        "unsupported": "이 답변을 뒷받침하는 문서가 없습니다.",
        "length_cut": "답변이 길이 제한에서 잘렸습니다.",
        "no_model": "언어 모델이 설정되어 있지 않아 문서에서 인용한 문장을 보여 드립니다.",
        "interrupted": "답변이 여기서 끊겼습니다. 다시 질문해 주세요.",
        "model_down": "지금은 언어 모델에 연결할 수 없습니다. 잠시 후 다시 시도해 주세요.",
        "rate_limited": "언어 모델이 혼잡합니다. 약 {seconds}초 후에 다시 시도해 주세요.",
        "not_allowed": "여기에는 읽을 수 있는 문서가 없습니다. 관리자에게 문의해 주세요.",
    },
    "pt": {
        "empty_response": "Não encontrei nada sobre isto nos documentos.",
        "unsupported": "Nenhum documento sustenta esta resposta.",
        "length_cut": "A resposta foi cortada no seu limite de comprimento.",
        "no_model": "Não há um modelo de linguagem configurado: estas são frases citadas dos documentos.",
        "interrupted": "A resposta foi interrompida aqui. Por favor, pergunte de novo.",
        "model_down": "De momento não é possível contactar o modelo de linguagem. Tente mais tarde.",
        "rate_limited": "O modelo de linguagem está ocupado. Tente de novo dentro de cerca de {seconds} s.",
        "not_allowed": "Não há aqui documentos que possa ler. Por favor, contacte um administrador.",
    },
    "ru": {
        "empty_response": "В документах об этом ничего не найдено.",
        "unsupported": "Ни один документ не подтверждает этот ответ.",
        "length_cut": "Ответ обрезан по ограничению длины.",
        "no_model": "Языковая модель не настроена: это предложения, процитированные из документов.",
        "interrupted": "Ответ здесь оборвался. Пожалуйста, задайте вопрос ещё раз.",
        "model_down": "Языковая модель сейчас недоступна. Пожалуйста, попробуйте позже.",
        "rate_limited": "Языковая модель занята. Попробуйте снова примерно через {seconds} с.",
        "not_allowed": "Здесь нет документов, доступных вам для чтения. Обратитесь к администратору.",
    },
}

LANGUAGES = tuple(_SENTENCES)


def phrase(key: Phrase, language: str = "en", *, seconds: int = 0) -> str:
    """Return the sentence in the language (``zh``, ``zh-TW``, ``de_AT``), or in English when we do not have it."""
    code = language.replace("_", "-").partition("-")[0].lower()
    return _SENTENCES.get(code, _SENTENCES["en"])[key].replace("{seconds}", str(seconds))
