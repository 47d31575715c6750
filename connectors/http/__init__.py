"""The one way in which sources are asked over HTTP."""

from connectors.http.addresses import AddressRule, NetworkNames, parse_network
from connectors.http.client import HttpClient, HttpOptions, JsonReply, Reply
from connectors.http.faults import fault_of, moment, retry_after, shown
from connectors.http.replies import checked, json_object, malformed
from connectors.http.validators import Validators

__all__ = [
    "AddressRule",
    "HttpClient",
    "HttpOptions",
    "JsonReply",
    "NetworkNames",
    "Reply",
    "Validators",
    "checked",
    "fault_of",
    "json_object",
    "malformed",
    "moment",
    "parse_network",
    "retry_after",
    "shown",
]
