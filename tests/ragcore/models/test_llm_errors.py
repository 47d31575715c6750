"""Every error class of the openai SDK has a place in our tree."""

import inspect
import sys
from typing import Any

import openai
import pytest
from openai import _exceptions

from ragcore.errors import ModelError
from ragcore.models.openai_errors import MAPPED, failure_of, transport_errors

HTTP: Any = sys.modules[openai.Timeout.__init__.__module__.partition(".")[0]]
CLASSES = sorted(
    (
        cls
        for module in (openai, _exceptions)
        for cls in vars(module).values()
        if issubclass(type(cls), type)  # to look closer would load what the SDK loads late, which takes seconds
        and issubclass(cls, openai.OpenAIError)
        and not cls.__name__.startswith("_")
    ),
    key=lambda cls: cls.__name__,
)


@pytest.mark.parametrize("cls", dict.fromkeys(CLASSES), ids=lambda cls: cls.__name__)
def test_every_class_of_the_sdk_is_mapped(cls: type[Exception]) -> None:
    assert cls.__name__ in MAPPED, "a new release of the SDK has an error that ragcore/models/openai_errors.py must map"


@pytest.mark.parametrize("cls", dict.fromkeys(CLASSES), ids=lambda cls: cls.__name__)
def test_an_instance_of_each_becomes_ours(cls: type[Exception]) -> None:
    assert type(failure_of(made(cls), section="llm").error) is MAPPED[cls.__name__]


def made(cls: type[Exception]) -> Exception:
    """Make an instance as the SDK would; only its class and status speak."""
    request = HTTP.Request("POST", "http://127.0.0.1/v1/chat/completions")
    known: dict[str, Any] = {"message": "it failed", "request": request, "body": None}
    status = getattr(cls, "status_code", 500 if cls is openai.InternalServerError else 418)
    known["response"] = HTTP.Response(status, request=request)
    if issubclass(cls, openai.APIError):
        return cls(**{name: known[name] for name in inspect.signature(cls).parameters})
    return cls.__new__(cls)


@pytest.mark.parametrize("cls", transport_errors())
def test_what_lies_under_the_sdk_becomes_ours(cls: type[Exception]) -> None:
    assert isinstance(failure_of(cls.__new__(cls), section="llm").error, ModelError)
