"""Room that a solver works in: a robot's arrays, laid out once per robot and lent to one solver after the other."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..feet.contact import Hold
from ..feet.footing import Footing, build_footing
from ..jit import arrays_of
from ..kinematics.assembly import prepared
from ..mechanism.kept import kept_with_robot
from ..mechanism.model import Mechanism
from ..mechanism.topology import SMALL, WRITTEN, Flat, limited_topology
from ..objectives.hold import new_holds, rows_of
from ..objectives.objective import Objective
from ..objectives.registry import ObjectiveTables, new_tables
from .memory import Memory, new_memory
from .work import Work, new_work

LAYOUTS, EACH = 32, 2  # kept of a robot, and rooms of each: some sets of contacts, and what speeds cost beside them


class Layout(NamedTuple):
    """Layout of a room."""

    names: tuple[str, ...]  # followed frames or bodies
    held: tuple[str, ...]  # balls whose turn from frame to frame is measured
    holds: tuple[Hold, ...]  # contacts; none in the air
    bound: float  # of the motors' hold


@dataclass(frozen=True, eq=False)
class Room:
    """Arrays of a solver.

    Attributes:
        footing: the robot's tree on the contacts, or in the air.
        flat: its arrays.
        memory: of the frames before.
        tables: what a frame asks for, without weights.
        work: scratch.
        fresh: the arrays above that change, and their first values; None for zeros.
    """

    footing: Footing
    flat: Flat
    memory: Memory
    tables: ObjectiveTables
    work: Work
    fresh: list[tuple[np.ndarray, np.ndarray | None]]


def lend(to: object, mechanism: Mechanism, layout: Layout, objectives: Sequence[Objective]) -> Room:
    """Return a room as good as new, which comes back when the borrower is no longer referred to.

    A large robot's does not: its arrays are as quickly made as cleared.
    """
    lent, key = _lent(mechanism), (layout, *((type(item), item.layout) for item in objectives))
    if key not in lent and len(lent) >= LAYOUTS:
        lent.clear()
    idle = lent.setdefault(key, [])
    try:
        room = idle.pop()
    except IndexError:
        room = _new_room(mechanism, layout, objectives)
    else:
        for array, first in room.fresh:
            array[...] = 0 if first is None else first
    if len(room.flat.before) <= SMALL:
        weakref.finalize(to, _take_back, idle, room).atexit = False
    return room


def _take_back(idle: list[Room], room: Room) -> None:
    if len(idle) < EACH:
        idle.append(room)


@kept_with_robot
def _lent(mechanism: Mechanism) -> dict[tuple[Any, ...], list[Room]]:
    """Return a robot's rooms that are not lent, by what they are laid out for."""
    return {}


def _new_room(mechanism: Mechanism, layout: Layout, objectives: Sequence[Objective]) -> Room:
    if layout.holds:
        footing = build_footing(mechanism, layout.holds, layout.held)
    else:
        air = limited_topology(mechanism, layout.held)
        footing = Footing(air, air, (), ())
    topology, flat = footing.topology, prepared(footing.topology)
    memory, walls = new_memory(flat, topology.rest), new_holds(footing.loops, layout.bound)
    tables = new_tables(topology, layout.names, memory.last, objectives, walls)
    work = new_work(flat, topology.rest, tables.tied if objectives else None, rows_of(tables.hold))
    changing = [getattr(flat, name) for name in WRITTEN]
    for group in (memory, tables, work):
        changing += arrays_of(group, without=Flat)
    unique = {id(array): array for array in changing}.values()
    fresh = [(array, array.copy() if array.any() else None) for array in unique]
    return Room(footing, flat, memory, tables, work, fresh)
