"""Processes that have a port open, as the system tells."""

from __future__ import annotations

import os
from pathlib import Path

from ..chain.port_name import device_at, device_of

PROCESSES = Path("/proc")  # Linux; where there is none, nobody is named
LONGEST = 80  # characters of a command that are told


def process_words(pid: int) -> str:
    """Return a process in words."""
    try:
        command = (PROCESSES / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return f"process {pid}"
    told = command if len(command) <= LONGEST else f"{command[:LONGEST]}…"
    return f"process {pid} ({told})" if told else f"process {pid}"


def users_words(port: str) -> str:
    """Return the other processes that have a port open, in words."""
    found = [process_words(pid) for pid in _users(device_of(port)) if pid != os.getpid()]
    return " and ".join(found) or "another program"


def _users(device: str) -> list[int]:
    """Return the processes with a device open: those of this user, of root all."""
    pids = sorted(int(place.name) for place in PROCESSES.glob("[0-9]*"))
    return [pid for pid in pids if any(device_at(str(file)) == device for file in _files(pid))]


def _files(pid: int) -> list[Path]:
    """Return what a process has open; nothing of one that is gone, or somebody else's."""
    try:
        return list((PROCESSES / str(pid) / "fd").iterdir())
    except OSError:
        return []
