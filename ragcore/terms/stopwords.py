"""Words that say nothing about what a text or a question is about."""

from ragcore.terms.model import Kind, Term

# Folded but not stemmed; the stemmed forms are added below.
_ENGLISH = """
a about above after again all also am an and any are aren't as at be because been before being below between both but
by can can't cannot could couldn't did didn't do does doesn't doing don't down during each e.g etc few for from further
had hadn't has hasn't have haven't having he her here hers herself him himself his how however i i'd i'll i'm i've i.e
if in into is isn't it it's its itself just let's may me might more most mustn't my myself no nor not now of off on once
only or other our ours ourselves out over own please same shall she should shouldn't so some such than that that's the
their theirs them themselves then there there's these they they're this those through to too under until up upon us
very was wasn't we we're we've were weren't what what's when where which while who who's whom whose why will with won't
would wouldn't you you'd you'll you're you've your yours yourself yourselves s t d ll re ve m
"""
_RUSSIAN = """
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет
о из ему теперь когда даже ну ли если или ни быть был него до вас нибудь уж вам ведь там потом себя ничего ей может они
тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе под будет ж кто этот того потому
этого какой какая какие ним здесь этом почти мой тем чтобы нее были куда зачем всех при об это эта эти
"""
_CHINESE = """
什么 怎么 怎样 如何 哪些 哪个 哪里 哪儿 哪年 是否 多少 为何 为什 么样 样的 是什 是谁 谁是 有哪 些是 是哪 个是
是多 么是 么时 时候 候是 请问 可以 能否 是不 不是 以及 或者 还是 因为 所以 但是 而且 如果 那么 这个 那个 这些
那些 一个 我们 你们 他们 它们 自己 没有 就是 也是 都是 甚麼 什麼 怎麼 為什 為何 哪裡 請問 這個 這些 還是
"""
_JAPANESE = """
です ます ました ましょ でし した して する から まで より など この その あの どの これ それ あれ どれ ここ
そこ どこ ある いる なる とは には では ても でも なぜ どう いつ だれ なに ください ませ せん んか ので のか
のは のが のを のに ため こと もの よう
"""
_KOREAN = """
무엇 무엇인가요 어떻게 언제 어디 누구 왜 몇 며칠 얼마 마나 무슨 어느 입니다 합니다 있는 하는 니다 습니 입니 합니 니까
는가 인가 가요 나요 까요 에서 으로 에게
"""
# Characters that mark grammar; a pair of two of them, or one of them alone, says nothing.
_GRAMMAR = frozenset(
    "的了吗嗎呢吧啊呀么麼是在和与與及或被把将將从從对對于於给給就都也很还還又而但若则則之其该該此这這那哪谁誰何几幾个個些得地着著过過们們"
)
_PARTICLES = frozenset(
    "はがをにのとでもへやかよねなだたてしすいうりるれくけさせまんっおごみ은는이가을를의에도로와과만요다"
)

STOP_WORDS = frozenset(f"{_ENGLISH}{_RUSSIAN}{_CHINESE}{_JAPANESE}{_KOREAN}".replace("'", "").split())


def is_stop_word(term: Term | str) -> bool:
    """Tell whether a term (or its text, as ``terms`` gives it) is a function word of some language.

    Of unspaced scripts: grammatical characters, pairs of two of them, and the usual question words.
    """
    text = term if isinstance(term, str) else term.text
    if isinstance(term, Term) and term.kind is Kind.IDENTIFIER:
        return False
    if text in STOP_WORDS:
        return True
    if len(text) > 2 or not text:
        return False
    return all(c in _GRAMMAR or c in _PARTICLES for c in text)
