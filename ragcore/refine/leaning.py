"""The small words by which a question leans on what was said before it, by language. Data."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaning:
    """Small words of one language, in lower case.

    ``persons`` and ``things`` stand for what was named before ("she", "it"); ``pointing`` words do with the noun behind
    them ("this article"); ``further`` ones ask for others of the same kind ("else"); ``opening`` ones begin what goes
    on ("and for managers?"); ``asking`` ones say nothing where a question has no others ("why?", "how long?");
    ``besides`` words name what is known already, after which ``further`` ones lean on nothing.
    """

    persons: frozenset[str] = frozenset()
    things: frozenset[str] = frozenset()
    pointing: frozenset[str] = frozenset()
    further: frozenset[str] = frozenset()
    opening: frozenset[str] = frozenset()
    asking: frozenset[str] = frozenset()
    besides: frozenset[str] = frozenset()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LEANING: Mapping[str, Leaning] = {
    "en": Leaning(
        persons=_words("he him his himself she her hers herself"),
        things=_words("it its itself they them their theirs themselves"),
        pointing=_words("this that these those such"),
        further=_words("else other others another more again next instead too also"),
        opening=_words("and or but so then"),
        asking=_words("who what when where which why how whose whom long much many old far often really sure ok about"),
        besides=_words("besides aside apart than except addition"),
    ),
    "de": Leaning(
        persons=_words("er ihn ihm sein seine seinen seiner seinem"),
        things=_words("es sie ihr ihre ihren ihrer ihrem ihnen dafür davon dazu damit dabei daran darauf darüber"),
        pointing=_words("dies diese dieser dieses diesen diesem das jene jener jenes"),
        further=_words("noch sonst andere anderen anderer anderes weitere weiteren auch wieder stattdessen"),
        opening=_words("und oder aber also dann"),
        asking=_words(
            "wer was wann wo welche welcher welches warum wieso weshalb wie lange viel viele oft weit wirklich"
        ),
        besides=_words("außer neben abgesehen als"),
    ),
    "fr": Leaning(
        persons=_words("lui"),
        things=_words("il elle ils elles leur leurs son sa ses celui celle ceux celles"),
        pointing=_words("ce cet cette ces cela ça ceci"),
        further=_words("autre autres encore aussi sinon ensuite plutôt"),
        opening=_words("et ou mais donc alors"),
        asking=_words("qui que quoi quand où quel quelle quels quelles pourquoi comment combien vraiment"),
        besides=_words("outre sauf hormis part"),
    ),
    "es": Leaning(
        persons=_words("él ella"),
        things=_words("ello ellos ellas su sus suyo suya"),
        pointing=_words("este esta estos estas ese esa esos esas esto eso aquel aquella"),
        further=_words("otro otra otros otras más también además después"),
        opening=_words("y o pero entonces"),
        asking=_words("quién qué cuándo dónde cuál cuáles por cómo cuánto cuántos cuánta cuántas"),
        besides=_words("salvo excepto aparte además"),
    ),
    "pt": Leaning(
        persons=_words("ele ela dele dela"),
        things=_words("eles elas deles delas seu sua seus suas isso isto nele nela"),
        pointing=_words("este esta estes estas esse essa esses essas aquele aquela"),
        further=_words("outro outra outros outras mais também depois"),
        opening=_words("e ou mas então"),
        asking=_words("quem que quando onde qual quais por como quanto quantos quanta quantas porquê"),
        besides=_words("além exceto salvo"),
    ),
    "ru": Leaning(
        persons=_words("он она его него ему нему ним нём ей ней неё её"),
        things=_words("оно они их них им ими"),
        pointing=_words("это этот эта эти этого этой этих этому этим этом тот та те того той тех"),
        further=_words("ещё еще другой другая другие других также тоже потом"),
        opening=_words("и а или но тогда"),
        asking=_words("кто что когда где какой какая какие почему зачем как сколько долго"),
        besides=_words("кроме помимо"),
    ),
}
"""Pronouns that look like articles ("die", "le", "lo") are left out: most questions have one."""

CHINESE = "|".join(
    (
        "[他她它]们?",
        "[这那這](?!么多)(?:个|些|种|样|里|是|項|项|款|次|份|部|個|種)?",
        "该(?!怎|如何)|其(?!他|它|中|实)",
        "上述|前者|后者|同样",
    )
)
"""What stands for something named before."""
CHINESE_FURTHER = r"还有|还能|还需|别的|其他|其它|另外|另一|再|也"
CHINESE_OPENING = r"^(?:那|那么|那麼|然后|所以|但是?|而且|并且|还有|如果是)"
CHINESE_ENDING = r"呢\s*[?？。]?\s*$"
JAPANESE = r"それ|これ|あれ|その|この|あの|彼女?|そこ|そちら|同じ"
JAPANESE_FURTHER = r"ほか|他に|他の|また|もっと"
JAPANESE_OPENING = r"^(?:では|じゃあ|それで|でも|そして)"
KOREAN = r"그것|이것|그거|이거|그들|그녀|(?:^|\s)(?:그|이|저)\s"
KOREAN_FURTHER = r"다른|또|더|그 ?외"
KOREAN_OPENING = r"^(?:그럼|그러면|그리고|그런데|하지만)"
