"""JMESPath (https://jmespath.org/specification.html): checked when the settings are loaded, and asked of replies."""

import functools
import importlib.util
import warnings
from collections.abc import Iterator
from typing import Any


class ExpressionError(Exception):
    """An expression can't be worked out on what came; the text says why, in one line."""


def check(expression: str) -> str:
    """Return an expression; ValueError when it is none, or names a function that there isn't."""
    if importlib.util.find_spec("jmespath") is None:
        raise ValueError("expressions need jmespath: pip install 'citebot[rest]'")
    from jmespath.exceptions import JMESPathError
    from jmespath.functions import Functions

    try:
        parsed = _compiled(expression).parsed
    except JMESPathError as error:
        why = str(error).partition("\n")[0].rstrip(":")
        raise ValueError(f'"{expression}" is no JMESPath expression: {why}') from None
    for name in _functions(parsed):
        if name not in Functions.FUNCTION_TABLE:
            raise ValueError(f'"{expression}" names the function {name}(), which JMESPath doesn\'t have')
    return expression


def found(expression: str, value: Any) -> Any:
    """Return what an expression gives of a value, None for nothing; ExpressionError when it can't be worked out."""
    from jmespath.exceptions import JMESPathError

    try:
        return _compiled(expression).search(value)
    except JMESPathError as error:
        raise ExpressionError(str(error).partition("\n")[0]) from None
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError) as error:
        raise ExpressionError(f"{type(error).__name__} in JMESPath") from None


def is_true(value: Any) -> bool:
    """Tell whether JMESPath takes a value for true: all but null, false and what is empty."""
    return value is not None and value is not False and (not isinstance(value, str | list | dict) or bool(value))


def kind_of(value: Any) -> str:
    """Return what a value is, in words."""
    if value is None:
        return "nothing"
    kinds = {
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
    }
    return kinds.get(type(value), "something else")


@functools.lru_cache(maxsize=256)
def _compiled(expression: str) -> Any:
    import jmespath

    with warnings.catch_warnings():
        # `text` without quotes in its backticks is an old form, but people write it, and it works.
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return jmespath.compile(expression)


def _functions(node: Any) -> Iterator[str]:
    """Yield the names of the functions in a parsed expression."""
    pending = [node]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if node.get("type") == "function_expression":
                yield str(node["value"])
            pending.extend(node.get("children", ()))
