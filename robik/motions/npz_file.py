"""NumPy motion files: the fields of a `Motion` as arrays.

`times` (T,) [s], `actuators` (A,), `values` (T, A) [rad or m]. Where they are known: `base_body`, `base_position` (T,
3) [m] and `base_quaternion` (T, 4) wxyz; `passive` (P,) with `passive_values` (T, P) [rad or m]; `needs`, as JSON
(`needs.py`).
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from ..arrays import names_in, numbers, pack, read_npz, texts
from ..errors import ClipError
from .format import Companions, MotionFormat
from .motion import BaseTrack, Motion
from .needs import needs_from

ALWAYS = ("times", "actuators", "values")
BASE = ("base_body", "base_position", "base_quaternion")
PASSIVE = ("passive", "passive_values")
NEEDS = "needs"


def matches(content: bytes) -> bool:
    """Return True if it is an archive of arrays that has those of a motion."""
    return names_in(content) >= {*ALWAYS}


def write(motion: Motion, path: Path, companions: Companions) -> bytes:
    """Return a motion as an archive of arrays."""
    arrays = {"times": motion.times, "actuators": np.array(motion.actuators, dtype=str), "values": motion.values}
    if (base := motion.base) is not None:
        arrays |= dict(zip(BASE, (np.array(base.body), base.position, base.quaternion), strict=True))
    if motion.passive is not None:
        columns = list(motion.passive.values())
        table = np.column_stack(columns) if columns else np.zeros((len(motion.times), 0))
        arrays |= dict(zip(PASSIVE, (np.array(list(motion.passive), dtype=str), table), strict=True))
    if motion.needs is not None:
        arrays[NEEDS] = np.array(json.dumps(motion.needs.as_data()))
    return pack(arrays)


def read(content: bytes, companions: Companions) -> Motion:
    """Return the motion in a NumPy archive."""
    there = names_in(content)
    parts = [part for part in (BASE, PASSIVE) if part[1] in there]
    arrays = read_npz(content, [*ALWAYS, *(name for part in parts for name in part), *({NEEDS} & there)])
    times, actuators = numbers(arrays, "times", (None,)), texts(arrays, "actuators")
    base = passive = None
    if BASE in parts:
        if len(body := texts(arrays, BASE[0])) != 1:
            raise ClipError(f"{BASE[0]} must be the name of one body, not of {len(body)}")
        base = BaseTrack(body=body[0], position=numbers(arrays, BASE[1]), quaternion=numbers(arrays, BASE[2]))
    if PASSIVE in parts:
        names = texts(arrays, PASSIVE[0])
        passive = dict(zip(names, numbers(arrays, PASSIVE[1], (len(times), len(names))).T, strict=True))
    values = numbers(arrays, "values")
    needs = needs_from(_object(texts(arrays, NEEDS)[0])) if NEEDS in there else None
    return Motion(times=times, actuators=actuators, values=values, base=base, passive=passive, needs=needs)


def _object(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        raise ClipError(f"{NEEDS}: not JSON: {text[:60]}") from None


FORMAT = MotionFormat(name="npz", label="NumPy", extensions=(".npz",), matches=matches, read=read, write=write)
