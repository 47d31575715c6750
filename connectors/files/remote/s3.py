"""S3 and what speaks its API, through s3fs. Blocking; run it in a thread."""

import copy
import functools
import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from connectors.files.remote.address import Address

_CONNECTING = 15  # seconds
_ANSWERING = 60  # seconds


def open_s3(address: Address) -> tuple[Any, str]:
    """Return the file system of a bucket, and the path that the source begins at; TypeError for an unknown option."""
    module = importlib.import_module("s3fs")
    options = copy.deepcopy(dict(address.options))
    unknown = options.keys() - inspect.signature(module.S3FileSystem.__init__).parameters.keys() - {"profile"}
    if unknown:
        raise TypeError(unknown)
    # Who calls decides when to try again, and knows for how long the service asked to wait.
    limits = {"retries": {"max_attempts": 0}, "connect_timeout": _CONNECTING, "read_timeout": _ANSWERING}
    given = options.get("config_kwargs")
    options["config_kwargs"] = {**limits, **(given if isinstance(given, Mapping) else {})}
    options["session"] = _session(options.pop("profile", None))
    # One stream a file: pieces that are asked for apart could be of two versions of it.
    options |= {"use_listings_cache": False, "max_concurrency": 1, "skip_instance_cache": True}
    system, root = importlib.import_module("fsspec.core").url_to_fs(address.url, **options)
    system.retries = 1
    return system, str(root)


def close_s3(system: Any) -> None:
    """Close the connections."""
    if system._s3 is not None:
        system.close_session(system.loop, system._s3)


def _session(profile: object) -> Any:
    session = importlib.import_module("aiobotocore.session").AioSession(profile=profile)
    session.register_component("data_loader", _loader(session.get_config_variable("data_path")))
    return session


@functools.cache
def _loader(path: str | None) -> Any:
    """Return what reads the descriptions of Amazon's services: a third of a second, so once a process."""
    return importlib.import_module("botocore.loaders").create_loader(path)
