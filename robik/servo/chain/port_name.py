"""Names of ports, and which of them mean one device.

A port has several: its device, the links that udev makes to it (`/dev/serial/by-id/…`), pyserial's `spy://…` on it.
"""

from __future__ import annotations

import os
import re
import stat
import sys

from ..brands.registry import brand_at

SIMULATED = "sim"  # the port that is a simulated chain, started and ended by the thread
WRAPPERS = ("spy://", "alt://")  # pyserial's URLs around the path of a device
DEVICE_SPACE = re.compile(r"^\\\\[.?]\\")  # Windows: before the name of a port above COM9
LOCAL = re.compile(r"(?<=[/:])localhost(?=:|$)")
CALL_IN, CALL_OUT = "/dev/tty.", "/dev/cu."  # macOS: the two devices of each port


def device_of(port: str, system: str = sys.platform) -> str:
    """Return what all names of a port have in common."""
    name = port.strip()
    for wrapper in WRAPPERS:
        name = name.removeprefix(wrapper)
    if "://" in name or brand_at(name) is not None:
        return _of_network(name)
    name = name.partition("?")[0] if name != port.strip() else name
    if system == "win32":
        return DEVICE_SPACE.sub("", name).upper()
    if system == "darwin" and name.startswith(CALL_IN):
        name = CALL_OUT + name.removeprefix(CALL_IN)
    return device_at(name) or (_real_path(name) if os.sep in name else name)


def device_at(path: str) -> str:
    """Return the number of the device at a path."""
    try:
        there = os.stat(path)
    except (OSError, ValueError):
        return ""
    is_device = stat.S_ISCHR(there.st_mode)
    return f"device {os.major(there.st_rdev)}:{os.minor(there.st_rdev)}" if is_device else ""


def _real_path(name: str) -> str:
    try:
        return os.path.realpath(name)
    except OSError:  # of another user
        return os.path.abspath(name)


def _of_network(name: str) -> str:
    """Return the address of a port over the network, without what does not say where it is."""
    brand = brand_at(name)
    if brand is not None and name == brand.scheme:
        name = brand.usual_port
    return LOCAL.sub("127.0.0.1", name.partition("?")[0].lower())
