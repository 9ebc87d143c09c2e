"""Ports of vendors' SDKs that wait for bytes: by themselves they ask over and over, which keeps a processor busy."""

from __future__ import annotations

from typing import Any

GLANCE = 1e-3  # [s] that a read waits for its bytes


class Waiting:
    """What a `PortHandler` needs for that; to be inherited before it."""

    ser: Any

    def setupPort(self, cflag_baud: int) -> bool:
        """Open the port."""
        is_open: bool = super().setupPort(cflag_baud)  # type: ignore[misc]
        self.ser.timeout = GLANCE
        return is_open
