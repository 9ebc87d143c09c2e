"""Messages between a player and the process that has its port: lines of JSON, and motions in files.

To the process: `open` (chain, port, settings), `ask` (a command of the session, its arguments, and what the status says
until it is done), `press` and `release` of the emergency stop, `stop`, `pace`, `traced`, `wish`, `show`, `clear`,
`beat`, `end`.
From it: `ready`, then `status`, with the servos that are there and the number of the last `ask` of which it knows.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from ...tilt_feedback import TiltPlan
from ..chain.chain import ServoChain
from ..chain.trajectory import Along
from ..chain.tuning import Tuning
from .status import PlaySettings, PlayState, ServoReading, Status
from .trace import Sample


class Columns(NamedTuple):
    """Columns of a motion for the servos: see `Samples`."""

    times: np.ndarray  # (T,) [s]
    actuators: tuple[str, ...]  # names
    values: np.ndarray  # (T, A) [rad or m]


def pack(do: str, **content: object) -> bytes:
    """Return a message as a line of JSON, with its end; `do` names the message."""
    return json.dumps({"do": do, **content}).encode() + b"\n"


def unpack(line: bytes) -> dict[str, Any]:
    """Return the entries of a message that `pack` packed; `do` names it."""
    return json.loads(line)


def settings_data(settings: PlaySettings) -> dict[str, Any]:
    """Return settings as JSON knows them."""
    return asdict(settings)


def settings_from(data: Mapping[str, Any]) -> PlaySettings:
    """Return the settings that `settings_data` packed."""
    return PlaySettings(**{**data, "without": tuple(data["without"])})


def status_data(status: Status) -> dict[str, Any]:
    """Return a status as JSON knows it."""
    return vars(status) | {"servos": [vars(servo) for servo in status.servos]}  # `asdict` copies all of it, slowly


def status_from(data: Mapping[str, Any]) -> Status:
    """Return the status that `status_data` packed."""
    servos = tuple(ServoReading(**servo) for servo in data["servos"])
    known: dict[str, Any] = {"state": PlayState(data["state"]), "present": tuple(data["present"]), "servos": servos}
    known["goals"] = tuple(data["goals"])
    known["tunings"] = tuple(Tuning(*one) for one in data["tunings"])
    known["zero_settings"] = tuple(tuple((name, value) for name, value in one) for one in data["zero_settings"])
    known["trace"] = tuple(Sample(*one) for one in data["trace"])
    return Status(**{**data, **known})


def along_data(along: Along, chain: ServoChain) -> dict[str, Any]:
    """Return a way along a motion, its numbers in a file whose path is among the entries.

    Whoever writes must not wait for a process that hangs.
    """
    names = tuple(dict.fromkeys(chain.actuators))
    columns = along.motion.values[:, [along.motion.actuators.index(name) for name in names]]
    handle, path = tempfile.mkstemp(prefix="robik-motion-", suffix=".npy")
    with os.fdopen(handle, "wb") as file:
        np.save(file, np.column_stack([along.motion.times, columns]))
    return {"file": path, "actuators": names, "interpolation": along.interpolation}


def along_from(data: Mapping[str, Any], chain: ServoChain) -> Along:
    """Return the way that `along_data` packed, and remove the file."""
    try:
        table = np.load(data["file"])
    finally:
        os.unlink(data["file"])
    return Along(Columns(table[:, 0], tuple(data["actuators"]), table[:, 1:]), chain, data["interpolation"])


def tilt_data(plan: TiltPlan) -> dict[str, Any]:
    """Return a plan of tilt feedback, its numbers in a file whose path is among the entries."""
    handle, path = tempfile.mkstemp(prefix="robik-tilt-", suffix=".npz")
    with os.fdopen(handle, "wb") as file:
        np.savez(file, times=plan.times, up=plan.up, gains=plan.gains)
    return {"file": path, "body": plan.body, "actuators": plan.actuators}


def tilt_from(data: Mapping[str, Any]) -> TiltPlan:
    """Return the plan that `tilt_data` packed, and remove the file."""
    try:
        with np.load(data["file"]) as file:
            arrays = {name: file[name] for name in ("times", "up", "gains")}
    finally:
        os.unlink(data["file"])
    return TiltPlan(body=data["body"], actuators=tuple(data["actuators"]), **arrays)
