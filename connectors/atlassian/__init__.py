"""What the source types of Atlassian's products share: where a site is, how it is asked, and who people are."""

from connectors.atlassian.api import Api, Got, Refused, client_of
from connectors.atlassian.options import AtlassianOptions
from connectors.atlassian.people import People

__all__ = ["Api", "AtlassianOptions", "Got", "People", "Refused", "client_of"]
