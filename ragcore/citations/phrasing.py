"""Turns of phrase that carry no claim about the world: leading in by the sources, owning that they say nothing."""

import re

from ragcore.citations.disclaimers import disclaims
from ragcore.citations.polarity import without_answer

_SOURCES = (
    "(?:contexts?|documents?|documentation|passages?|sources?|texts?|excerpts?|materials?|knowledge base|results)"
)
_GIVEN = r"(?:given|provided|available|retrieved|supplied|above|following|cited)"
_ZH_SOURCES = "(?:文档|文件|资料|材料|上下文|知识库|信息|内容|文本|来源)"
_SAY = (
    r"(?:say|said|state|mention|specif|contain|provide|include|give|answer|cover|address|tell|indicate|describe|list|"
    r"discuss|find|found|explain|reveal|clarif)"
)
_I_CANNOT = r"I (?:(?:do|could|did) not|(?:do|ca|could|did)n['’]t|cannot|(?:am|was) (?:unable|not able) to)"
LEAD_IN = re.compile(
    rf"^(?:based on|according to|as (?:per|stated in|mentioned in)|per|from|in) (?:the |these |your )?(?:{_GIVEN} )?"
    rf"(?:{_SOURCES}|information)(?: {_GIVEN})?,\s*"
    rf"|^(?:unfortunately,? )?{_I_CANNOT}\b[^.!?]{{0,160}}?\bbut,?\s+"
    r"(?:I (?:did|do|can|could) (?:find|know|see|say|tell you),?(?: that\b)?,?\s*)?"
    rf"|^(?:根据|按照|依据|从)(?:所?提供|给出|给定|已有|检索到|上述|以上|现有)?的?{_ZH_SOURCES}(?:中|内容|显示|可知|来看)*[，,]\s*",
    re.IGNORECASE,
)
"""``Based on the given context,`` and ``I could not find X, but``: how an answer begins, not what it says."""
_SAYS_NOTHING = re.compile(
    rf"\b(?:the|these|those|your|any|{_GIVEN}) (?:{_GIVEN} )?(?:{_SOURCES}|information)\b[^.;!?]{{0,60}}?"
    rf"(?:\bnot\b|n['’]t\b|\bno\b|\bnothing\b|\bnever\b)[^.;!?]{{0,40}}?(?:\b{_SAY}|\binformation|\bdetails?)"
    rf"|(?:\bnot\b|n['’]t\b|\bno\b|\bnothing\b|\bunclear\b)[^.;!?]{{0,160}}?"
    rf"\bin (?:the |these |your )?(?:{_GIVEN} )?{_SOURCES}\b"
    rf"|\b{_I_CANNOT} "
    r"(?:know|find|answer|say|tell|determine)\b"
    rf"|{_ZH_SOURCES}[^。！？；]{{0,20}}(?:没有|未|并未|没)[^。！？；]{{0,12}}(?:提到|提及|说明|包含|提供|给出|涉及|记载|相关)"
    rf"|(?:没有|未能?|无法)[^。！？；]{{0,12}}{_ZH_SOURCES}[^。！？；]{{0,8}}(?:找到|查到|得知|回答|确定|提到)"
    r"|我不知道|无法(?:回答|确定|得知|判断)",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"\W*(?:(?:thanks|thank you)(?: (?:so|very) much)?(?: for (?:\w+ ?){1,4})?|you(?:['’]re| are) welcome"
    r"|(?:I['’]m |I am )?(?:happy|glad) to help|(?:I )?hope (?:this|that) helps|(?:good|great) question"
    r"|(?:please )?(?:let me know|feel free)\b[^.!?\d]{0,60}|(?:is there )?anything else\b[^.!?\d]{0,40})[.!?\s]*",
    re.IGNORECASE,
)
"""What is said out of politeness, and of nothing else."""
_BUT = re.compile(
    r"(?<=\s)(?:but|however|though|although|while|yet|instead|only)\b|\A(?:al)?though\b|但|不过|然而|只", re.IGNORECASE
)
_NEGATION = re.compile(
    r"\b(?:not|no(?!\.)|never|none|neither|nor|without|cannot|nobody|nothing)\b|n['’]t\b", re.IGNORECASE
)


def says_nothing(sentence: str) -> bool:
    """Whether a sentence owns that the sources do not tell: it claims nothing, and no source could bear it out.

    With a "but" it goes on to claim something.
    """
    if _COURTESY.fullmatch(sentence):
        return not _BUT.search(sentence)
    if _SAYS_NOTHING.search(sentence):
        return not _BUT.search(sentence)
    return disclaims(sentence)


def denies(sentence: str) -> bool:
    """Whether an English sentence says that something is not so, without a "but" that takes it back in part.

    The "No," of an answer denies nothing itself.
    """
    sentence = without_answer(sentence)
    return _NEGATION.search(sentence) is not None and not _SAYS_NOTHING.search(sentence) and not _BUT.search(sentence)


def negated(text: str) -> bool:
    """Whether a negation stands in an English text."""
    return _NEGATION.search(text) is not None
