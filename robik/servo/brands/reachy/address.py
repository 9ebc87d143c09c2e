"""Address of a daemon, as a port names it: `reachy:HOST:PORT`."""

from __future__ import annotations

import re
from typing import NamedTuple

from ....errors import ServoError
from .brand import HOST, PORT, REACHY

PATTERN = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[^:\s/\[\]]*)(?::(?P<port>\d{1,5}))?")


class Address(NamedTuple):
    """Address of a daemon.

    Attributes:
        host: Name or address of the computer.
        port: TCP port.
    """

    host: str
    port: int


def parse_address(name: str) -> Address:
    """Return the address in a port's name, this machine's daemon where it says no more; else raise ServoError."""
    found = PATTERN.fullmatch(name.strip().removeprefix(REACHY.scheme))
    port = int(found["port"] or PORT) if found else 0
    if not found or not 0 < port < 65536:
        raise ServoError(f"port {name} is no address of a daemon; {REACHY.usual_port} would be one")
    return Address(found["host"].strip("[]") or HOST, port)
