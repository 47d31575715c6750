"""The small words by which the languages of the Latin script are told apart: articles, prepositions, forms of "to be".

A word stands under every language that often uses it, so that none is taken for a sign of one alone: ``in`` is English
as well as German, ``on`` is also Finnish for "is" and ``to`` Polish for "this".
"""

from collections.abc import Mapping, Sequence

SMALL_WORDS: Mapping[str, str] = {
    "en": (
        "the of and to in is are was were that for with on by it as be from this at or not have has had an which "
        "you your they their can will its he she his her we our us been but if when than then there these those "
        "who what where how while after before during about into out over under only also all any each more most "
        "no so some such between both within without until because do does did must should may would could"
    ),
    "de": (
        "der die das und ist nicht ein eine einen einer eines einem dem den des mit für von zu im in an am auf "
        "bei wird werden wurde wurden sind oder auch sich nach aus als vom zum zur es war hat haben kann können "
        "muss müssen soll darf dürfen bis pro wenn dass über unter durch vor nur noch mehr alle so um er sie wir "
        "man ihr ihre sein seine ich wie dieser diese dieses jeder jede jedes innerhalb während kein keine dazu "
        "gibt beim also will her"
    ),
    "nl": (
        "de het een en van is niet dat die in op te zijn voor met aan er ook als bij wordt worden door naar om of "
        "per tot uit over heeft hebben kan kunnen moet moeten mag u je uw hun we na onder geen maar deze dit "
        "binnen zonder tijdens elke elk alle meer dan was ik hoe wat hier al had"
    ),
    "sv": (
        "och att det som en är på av för med den till inte har ett om de vid kan i från eller vi du man ska skall "
        "måste får var alla under efter inom upp per när så sin sitt sina mot över utan jag hur inga finns varje "
        "också men"
    ),
    "da": (
        "og at det som en er på af for med den til ikke har et om de ved kan der i fra eller vi du man skal må "
        "får var alle under efter inden op per når så sin over uden jeg hvordan ingen findes hver også men blive "
        "bliver have"
    ),
    "no": (
        "og at det som en er på av for med den til ikke har et om de ved kan der i fra eller vi du man skal må "
        "får var alle under etter innen opp per når så sin over uten jeg hvordan ingen finnes hver også men bli "
        "blir ei"
    ),
    "fr": (
        "le la les des et est une un du dans pour que qui par sur avec au aux ne pas sont ou où ce cette ces il "
        "elle de en se ont plus à sans être peut doit jusqu vous nous leur son sa ses mais si tout tous chaque me "
        "do on je comment après avant entre sous aussi comme fait"
    ),
    "es": (
        "el la los las de del y es un una en que por para con se no su sus al como más son está lo hay a o hasta "
        "desde sin sobre entre ser puede debe tiene tienen cada pero si todo todos ha han me cómo cuando este "
        "esta estos"
    ),
    "it": (
        "il lo la gli le i di e è un una in che per con non del della dei delle sono si da dal al alla nel nella "
        "anche a o entro fino ogni più può deve essere ha hanno se ma come su sul dopo prima tra senza questo "
        "questa me no do"
    ),
    "pt": (
        "os as o a de do da e é um uma em que para com não na no nas nos dos das por se são ao à pela pelo ou até "
        "mais cada ser pode deve tem têm como sobre entre sem sua seu mas me este esta isso também quando após"
    ),
    "ca": "el la els les de del i és un una en que per amb no es al als dels són o fins cada més pot té ha",
    "ro": (
        "și de la în cu pe un o este sunt pentru din care nu se sau mai până ale al a să fi ai după fără fiecare "
        "prin poate trebuie au fost că"
    ),
    "pl": (
        "i w na nie się z do jest to że o jak po za od są przez oraz dla lub a ma mają może można ze we przed pod "
        "który która które co czy tylko jeśli każdy przy być ich jego on no by"
    ),
    "cs": (
        "a v na je se z do to že o jak po za od jsou nebo pro s k i ve ze který která které být má mají může lze "
        "při před pod by ale až nejsou není si každý jen on my no"
    ),
    "sk": (
        "a v na je sa z do to že o ako po za od sú alebo pre s k aj vo zo ktorý ktorá ktoré byť má majú môže pri "
        "pred pod by ale až nie si každý len on my no"
    ),
    "hr": (
        "i u na je se za od do da su ili s o iz koji koja koje ne to po može mora biti ima imaju prije bez sa kao "
        "ali samo nije pri on me no"
    ),
    "hu": (
        "a az és nem egy hogy van is meg de ha ez vagy után előtt kell lehet minden csak mint ki be el fel ami "
        "akkor alatt szerint évente nap mert me"
    ),
    "fi": ("ja on ei se että voi ovat tai kun mutta myös joka jos niin ole oli sen hän saa tulee sekä kuin vain me he"),
    "et": "ja on ei see et või kui ka mis oma ta kes aga pärast kuni peab võib saab tema me",
    "tr": (
        "ve bir bu için ile da de en çok olarak daha olan kadar sonra her gibi veya ise değil var yok göre o ne "
        "mi tarafından on"
    ),
    "vi": (
        "và của là có không được cho các với trong một những người khi đến từ này để ngày phải sẽ về do trên ra "
        "năm theo to"
    ),
    "id": (
        "yang dan di dari untuk dengan ini itu pada tidak dalam akan adalah ke atau dapat oleh karena juga "
        "sebagai hingga setiap per hari telah harus ada bisa"
    ),
    "sw": "ya na wa kwa ni za la katika kila au siku hadi kama hii si cha vya",
}


def by_word() -> Mapping[str, Sequence[str]]:
    """Return the languages of each small word."""
    languages: dict[str, list[str]] = {}
    for language, words in SMALL_WORDS.items():
        for word in dict.fromkeys(words.split()):
            languages.setdefault(word, []).append(language)
    return languages
