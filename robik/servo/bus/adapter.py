"""Latency of USB adapters, and a way to shorten it."""

from __future__ import annotations

import os
import sys
from pathlib import PurePath

TOO_LONG = 0.006  # [s] from a question to its answer, of a servo that answers at once; FTDI's adapters take 16 ms

WINDOWS = "in the Device Manager: the port, Port Settings, Advanced, Latency Timer"
MACOS = "in the settings of the adapter's driver: LatencyTimer"


def advice(port: str, seconds: float, system: str = sys.platform) -> str:
    """Return how to shorten an adapter's latency, if an answer takes too long [s]; else an empty text.

    `system` is named as `sys.platform`.
    """
    if seconds < TOO_LONG:
        return ""
    linux = f"echo 1 | sudo tee /sys/bus/usb-serial/devices/{PurePath(os.path.realpath(port)).name}/latency_timer"
    how = {"win32": WINDOWS, "darwin": MACOS}.get(system, linux)
    return (
        f"answers on {port} take {1e3 * seconds:.0f} ms, so that servos are looked at less often: "
        f"set the latency timer of the adapter to 1 ms ({how})"
    )
