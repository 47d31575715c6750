"""Source type ``slack``: the channels of a workspace, their threads and what was said beside them."""

from connectors.base import SourceType
from connectors.slack.connector import SlackConnector
from connectors.slack.events import touched
from connectors.slack.options import SlackOptions

__all__ = ["SLACK", "SlackConnector", "SlackOptions", "touched"]

SLACK = SourceType(options=SlackOptions, create=SlackConnector, touched=touched)
