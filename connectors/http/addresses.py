"""Which addresses may be connected to: public ones, and those of the networks that a setting allows.

A name is judged by the address that is being connected to, at that moment, so that a name which resolves to another
address a second later (DNS rebinding), a redirect or a number in a link's place can't lead inside.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from aiohttp import AddrInfoType
from pydantic import AfterValidator

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))  # RFC 6052, RFC 8215
_COMPATIBLE = ipaddress.IPv6Network("::/96")  # RFC 4291, section 2.5.5.1
_REFUSED = re.compile(r"\[refused ([^\]]+)\]")


class AddressRefused(PermissionError):
    """An address is neither public nor of an allowed network."""

    def __init__(self, address: Address) -> None:
        """Keep the address in the text: errors of several addresses are joined by their texts."""
        super().__init__(f"[refused {address}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressRule:
    """Public addresses, and those of ``networks``."""

    networks: tuple[Network, ...] = ()

    @classmethod
    def of(cls, names: Iterable[str]) -> "AddressRule":
        """Return the rule that allows the networks of a setting, too."""
        return cls(networks=tuple(map(parse_network, names)))

    def allows(self, address: Address) -> bool:
        """Tell whether an address may be connected to."""
        inner = _embedded(address)
        if inner is not None:
            return self.allows(inner)
        return any(address in network for network in self.networks) or _is_public(address)

    def open_socket(self, found: AddrInfoType) -> socket.socket:
        """Open a socket for an address that is about to be connected to; AddressRefused when it may not be."""
        family, kind, protocol, _, place = found
        address = ipaddress.ip_address(str(place[0]).partition("%")[0])
        if not self.allows(address):
            raise AddressRefused(_embedded(address) or address)  # by the form that a network would allow
        return socket.socket(family=family, type=kind, proto=protocol)


def refused_addresses(error: OSError) -> Sequence[str]:
    """Return the addresses that a failed connection was refused for; none when it failed otherwise."""
    return tuple(dict.fromkeys(_REFUSED.findall(str(error))))


def parse_network(text: str) -> Network:
    """Return a network from ``10.0.0.0/8``, ``fd00::/8`` or a single address; ValueError when it is none."""
    return ipaddress.ip_network(text.strip(), strict=False)


def _networks(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        parse_network(name)
    return names


NetworkNames = Annotated[tuple[str, ...], AfterValidator(_networks)]
"""A setting of networks, or single addresses."""


def _is_public(address: Address) -> bool:
    # Python counts multicast, and IPv6's old site-local addresses, as global.
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not getattr(address, "is_site_local", False)
    )


def _embedded(address: Address) -> Address | None:
    """Return the IPv4 address that an IPv6 address stands for: mapped, translated or tunnelled."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    found = address.ipv4_mapped or address.sixtofour
    if found is None and address.teredo is not None:
        found = address.teredo[1]
    is_numbered = address in _COMPATIBLE and int(address) > 1
    if found is None and (is_numbered or any(address in network for network in _NAT64)):
        found = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return found
