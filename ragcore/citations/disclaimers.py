"""How answers in other languages than English and Chinese own that the sources do not tell."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wording:
    """Patterns of one language.

    ``nothing``: that nothing, or no information, is there; ``sources``: what it would be in; both in one sentence, in
    either order. ``alone``: what says so without naming the sources. ``but``: what goes on to claim something.
    """

    sources: str
    nothing: str
    alone: str
    but: str


_WORDINGS = (
    _Wording(  # German
        sources=r"dokument\w*|unterlagen|quellen?|texte?n?|kontext|material\w*|wissensdatenbank|auszüge\w*|passagen?",
        nothing=r"nichts|kein(?:e|en|er|erlei)? (?:\w+ )?(?:angabe|information|hinweis|antwort|auskunft|details?)\w*"
        r"|nicht (?:\w+ ){0,2}(?:erwähnt|genannt|angegeben|beschrieben|enthalten|hervor|gefunden|finden|beantwort\w*|"
        r"behandelt|erläutert|thematisiert|ersichtlich|festgelegt|steht)",
        alone=r"(?:das|es|dies|ich) weiß (?:ich )?(?:das |es |leider )?nicht|weiß ich (?:leider )?nicht"
        r"|(?:kann|konnte) (?:ich )?[^.!?]{0,80}nicht(?:s)? (?:beantworten|sagen|finden)"
        r"|(?:dazu|hierzu|darüber) (?:liegen|habe ich|finde ich|gibt es|konnte ich)[^.!?]{0,60}(?:kein\w*|nichts)",
        but=r"aber|jedoch|sondern|allerdings|nur|obwohl",
    ),
    _Wording(  # Dutch
        sources=r"document\w*|bronnen|bron|tekst\w*|context|materiaal|kennisbank|passages?",
        nothing=r"niets|geen (?:\w+ )?(?:informatie|gegevens|antwoord|vermelding|details)"
        r"|niet (?:\w+ ){0,2}(?:vermeld|genoemd|beschreven|gevonden|vinden|terug)|vermelden? [^.!?]{0,40}niet",
        alone=r"(?:ik weet|weet ik) (?:het |dat )?(?:helaas )?niet|kan (?:ik )?[^.!?]{0,60}niet (?:beantwoorden|"
        r"vinden)"
        r"|(?:hierover|daarover) (?:heb|kan|vind) ik[^.!?]{0,40}(?:niets|geen)",
        but=r"maar|echter|alleen|hoewel",
    ),
    _Wording(  # French
        sources=r"documents?|sources?|textes?|contexte|extraits?|passages?|documentation",
        nothing=r"\brien\b|aucune? (?:\w+ )?(?:information|mention|réponse|indication|précision|détail)s?"
        r"|ne (?:\w+ )?(?:mentionn|précis|indiqu|contien|fourni|donn|dis|parl|trait)\w* (?:pas|rien|aucun)"
        r"|pas (?:d['’]\w+|mentionn\w*|précis\w*|indiqu\w*|trouv\w*)|n['’](?:est|a|ont|ai|y)[^.!?]{0,30}(?:pas|"
        r"rien|aucun)"
        r"[^.!?]{0,12}(?:mentionn|précis|indiqu|trouv|information)",
        alone=r"je (?:ne )?(?:le )?sais pas|je n['’]ai (?:pas|rien) trouvé|je ne (?:peux|"
        r"trouve) [^.!?]{0,40}(?:pas|rien)",
        but=r"mais|cependant|toutefois|seulement|bien que",
    ),
    _Wording(  # Spanish
        sources=r"documentos?|documentación|fuentes?|textos?|contexto|materiales?|fragmentos?|pasajes?",
        nothing=r"\bnada\b|ning(?:ún|una) (?:\w+ )?(?:información|dato|respuesta|mención|detalle)"
        r"|no (?:\w+ ){0,3}(?:menciona|especifica|indica|contiene|dice|aparece|encontr|información|incluye|"
        r"trata|figura)\w*",
        alone=r"no lo sé|no sé|no (?:he encontrado|encontré|puedo (?:responder|encontrar)) ",
        but=r"pero|sin embargo|aunque|solo|sólo",
    ),
    _Wording(  # Italian
        sources=r"document\w+|font[ei]|test[oi]|contesto|material[ei]|estratt[oi]|pass[oi]",
        nothing=r"\bnulla\b|\bniente\b|nessun[ao]? (?:\w+ )?(?:informazion|indicazion|rispost|dettagli|menzion)\w*"
        r"|non (?:\w+ ){0,3}(?:menziona|specifica|indica|contien|dic|parla|trova|trovato|informazioni|riporta|"
        r"tratta)\w*",
        alone=r"non lo so|non so |non (?:ho trovato|posso rispondere|trovo) ",
        but=r"ma|però|tuttavia|solo|sebbene",
    ),
    _Wording(  # Portuguese
        sources=r"documentos?|documentação|fontes?|textos?|contexto|materia(?:l|is)|trechos?|passagens",
        nothing=r"\bnada\b|nenhuma? (?:\w+ )?(?:informaç|dado|resposta|menção|indicaç|detalhe)\w*"
        r"|não (?:\w+ ){0,3}(?:menciona|especifica|indica|contém|diz|consta|encontr|informaç|inclu|trata|refere)\w*",
        alone=r"não sei|não (?:encontrei|consigo responder|posso responder) ?",
        but=r"mas|porém|contudo|apenas|embora",
    ),
    _Wording(  # Swedish, Danish, Norwegian
        sources=r"dokument\w*|källor\w*|kilder\w*|text\w*|tekst\w*|underlag\w*|kontext\w*|materiale?\w*",
        nothing=r"ingenting|inget|intet|ingen(?:ting)? |inga |inte (?:\w+ )?(?:nämn|ang|beskr|hitta|framg|"
        r"omnämn|finn)\w*"
        r"|ikke (?:\w+ )?(?:nævn|nevn|angiv|oppgi|beskr|find|finn|frem)\w*",
        alone=r"(?:jag|jeg) (?:vet|ved) (?:det )?(?:tyvärr |desværre |dessverre )?(?:inte|ikke)"
        r"|(?:hittade|hittar|fandt|finder|fant|finner) (?:jag|jeg) (?:tyvärr )?(?:ingen|inget|inga|intet)",
        but=r"men|dock|dog|kun|endast|bara",
    ),
    _Wording(  # Polish
        sources=r"dokument\w*|źród\w*|teks\w*|kontek\w*|materiał\w*|fragment\w*",
        nothing=r"\bnic\b|brak (?:\w+ )?(?:informacji|danych|wzmianki)|żadnych (?:informacji|danych)"
        r"|nie (?:\w+ ){0,2}(?:wspomina|podaj|podano|określ|zawiera|ma (?:\w+ )?informacji|znala|mówi|wynika|"
        r"opisuj)\w*",
        alone=r"nie wiem|nie (?:znalazłem|znalazłam|udało się znaleźć|mogę odpowiedzieć)",
        but=r"ale|jednak|lecz|tylko|choć",
    ),
    _Wording(  # Czech, Slovak
        sources=r"dokument\w*|zdroj\w*|text\w*|kontext\w*|materiál\w*|podklad\w*",
        nothing=r"\bnic\b|\bnič\b|žádn\w+ (?:informac|údaj|zmínk)\w*|žiadn\w+ (?:informác|údaj)\w*|"
        r"není (?:\w+ )?(?:uveden|"
        r"zmíněn|popsán)\w*|nie je (?:\w+ )?(?:uveden|spomenut)\w*|neuvád\w*|nezmiňuj\w*|neobsahuj\w*|"
        r"nejsou (?:\w+ )?informace",
        alone=r"\bnevím\b|\bneviem\b|nenašel jsem|nenašla jsem|nemohu odpovědět",
        but=r"ale|avšak|však|jen|pouze",
    ),
    _Wording(  # Turkish
        sources=r"belge\w*|doküman\w*|kaynak\w*|metin\w*|bağlam\w*",
        nothing=r"(?:bilgi|cevap|yanıt|ifade) (?:\w+ )?(?:yok|bulunm|bulam|yer alm)\w*|belirtilm[ei]\w*|"
        r"bahsedilm[ei]\w*"
        r"|hiçbir (?:şey|bilgi)",
        alone=r"bilmiyorum|bulamadım",
        but=r"ama|ancak|fakat|sadece",
    ),
    _Wording(  # Finnish
        sources=r"asiakirj\w*|dokument\w*|läh(?:de|te)\w*|tekst\w*|aineisto\w*",
        nothing=r"\bei(?:vät)? (?:\w+ ){0,3}(?:maini|kerro|löyd|sisällä|käsittele|tieto)\w*|"
        r"ei ole (?:\w+ )?(?:tieto|mainin)\w*",
        alone=r"en tiedä|en löytänyt",
        but=r"mutta|vain|kuitenkin",
    ),
    _Wording(  # Russian
        sources=r"документ\w*|источник\w*|текст\w*|контекст\w*|материал\w*",
        nothing=r"ничего|нет (?:\w+ )?(?:информации|сведений|данных|ответа|упоминани\w*)|не (?:\w+ )?(?:указан|"
        r"упомина|"
        r"упомянут|содерж|говор|наш|найден|описан|сказан|сообща)\w*|отсутству\w*",
        alone=r"я не знаю|не удалось найти|не могу ответить|я не наш[её]л",
        but=r"но|однако|только|хотя",
    ),
    _Wording(  # Ukrainian
        sources=r"документ\w*|джерел\w*|текст\w*|контекст\w*|матеріал\w*",
        nothing=r"нічого|немає (?:\w+ )?(?:інформації|відомостей|даних)|не (?:\w+ )?(?:вказан|згад|міст|"
        r"зазначен|знайд)\w*",
        alone=r"я не знаю|не вдалося знайти|не можу відповісти",
        but=r"але|однак|лише|хоча",
    ),
    _Wording(  # Vietnamese
        sources=r"tài liệu|nguồn|văn bản|ngữ cảnh",
        nothing=r"không (?:\w+ ){0,2}(?:đề cập|nêu|nói|có thông tin|tìm thấy|chứa|cung cấp)|"
        r"không có (?:\w+ ){0,2}thông tin",
        alone=r"tôi không biết|tôi không tìm thấy",
        but=r"nhưng|tuy nhiên|chỉ",
    ),
    _Wording(  # Indonesian
        sources=r"dokumen\w*|sumber|teks|konteks",
        nothing=r"tidak (?:\w+ ){0,2}(?:menyebut|menjelaskan|ada informasi|memuat|ditemukan|disebut|mencantum|"
        r"terdapat)\w*",
        alone=r"saya tidak (?:tahu|menemukan)",
        but=r"tetapi|namun|hanya",
    ),
)
_UNSPACED = re.compile(
    r"(?:文書|資料|ドキュメント|文脈|情報源|出典|テキスト)[^。！？]{0,40}(?:ありません|見つかりません|見当たりません|書かれていません|"
    r"記載されていません|述べられていません|含まれていません|示されていません|言及されていません|ない(?=[。\s]|$))"
    r"|わかりません|分かりません|お答えできません"
    r"|(?:문서|자료|문맥|출처|텍스트)[^.!?。]{0,40}(?:없습니다|않습니다|않았습니다|못했습니다|않아요|없어요|나와 있지)"
    r"|모르겠습니다|알 수 없습니다|답변(?:을 )?드릴 수 없습니다"
)
_UNSPACED_BUT = re.compile("ただし|しかし|一方|だけ|하지만|그러나|다만|만 ")


def _compiled(wording: _Wording) -> tuple[re.Pattern[str], re.Pattern[str]]:
    sources, nothing = rf"\b(?:{wording.sources})\b", rf"(?:\b(?:{wording.nothing}))"
    near = r"[^.!?;]{0,120}?"
    said = re.compile(rf"{sources}{near}{nothing}|{nothing}{near}{sources}|\b(?:{wording.alone})", re.IGNORECASE)
    return said, re.compile(rf"\b(?:{wording.but})\b", re.IGNORECASE)


_PATTERNS = (*map(_compiled, _WORDINGS), (_UNSPACED, _UNSPACED_BUT))


def disclaims(sentence: str) -> bool:
    """Whether a sentence owns in one of these languages that the sources do not tell, without a "but"."""
    return any(said.search(sentence) and not but.search(sentence) for said, but in _PATTERNS)
