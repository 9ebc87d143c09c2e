"""Stances of a clip: stretches of frames with the same contacts.

All stances share the tree, and so the coordinates, of the robot in the air. A contact that is held closes a loop: it is
one more cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..feet.contact import Contact, Hold
from ..feet.footing import Footing, build_footing
from ..ik.solver import Solver
from ..ik.work import Work, new_work
from ..kinematics.assembly import prepared
from ..kinematics.frames import anchor
from ..mechanism.orientations import quaternion_matrices
from ..mechanism.topology import Flat
from ..objectives.hold import rows_of
from .model import Neighbours, new_neighbours

MET = 1e-6  # of the robot's size, and rad: a contact this near is held
NEAR = (2e-3, 1e-2)  # likewise: a contact this near may be held after all
AROUND = 4  # frames on each side of one whose bounds are not kept, in which no contact is held


class Stance(NamedTuple):
    """A robot on a set of contacts."""

    flat: Flat  # the robot's arrays, with a cut for each contact
    work: Work  # scratch
    beside: Neighbours  # scratch
    footing: Footing | None  # None in the air


@dataclass(frozen=True)
class Stretch:
    """Frames `first` to `last` on the same contacts, held at the same places.

    Attributes:
        names: of the frames in contact.
        first: of the clip's frames.
        last: the frame after the last.
    """

    names: tuple[str, ...]
    first: int
    last: int


class Stances:
    """Contacts of a clip, and the frames in which each is held.

    `held` has flags (T,) by contact; `air` is the robot on no contact. `solver` is that of one frame, in the air.
    """

    def __init__(self, solver: Solver, contacts: Mapping[str, tuple[Contact, Hold]], frames: int):
        self._solver, self._frames = solver, frames
        self._contacts = {name: (contact.part(slice(0, frames)), hold) for name, (contact, hold) in contacts.items()}
        self._stances: dict[tuple[str, ...], Stance] = {(): self._stance(None)}
        self.held = {name: np.zeros(frames, bool) for name in self._contacts}

    @property
    def air(self) -> Stance:
        """Return the robot on no contact."""
        return self._stances[()]

    def hold(self, position: np.ndarray, quaternion: np.ndarray, near: tuple[float, float] = (MET, MET)) -> bool:
        """Hold every contact in the frames in which it is where it should stand; return True if some are new.

        State frames are (T, n, 3) [m] and (T, n, 4) wxyz. `near` is the largest distance from there, of the robot's
        size and in rad.
        """
        found = False
        for name, (contact, hold) in self._contacts.items():
            b, point, axes = anchor(self._solver.topology, name)
            rotation = quaternion_matrices(quaternion[: self._frames, b - 1])
            place = position[: self._frames, b - 1] + rotation @ point
            distance, angle = hold.gap(place, rotation @ axes, contact.position, contact.rotation)
            size = self._solver.mechanism.extent
            fits = contact.stands & (distance <= near[0] * size) & (angle <= near[1])
            found |= bool((fits & ~self.held[name]).any())
            self.held[name] |= fits
        return found

    def let_go(self, frames: np.ndarray, around: int = AROUND) -> None:
        """Hold no contact any more in flagged frames (T,) and in `around` frames on each side."""
        near = np.convolve(frames, np.ones(2 * around + 1), "same") > 0
        for held in self.held.values():
            held &= ~near

    def copy(self) -> dict[str, np.ndarray]:
        """Return a copy of what is held."""
        return {name: held.copy() for name, held in self.held.items()}

    def late(self) -> dict[str, np.ndarray]:
        """Return the frames of each contact in which it should stand and is not held, as indices."""
        return {name: np.flatnonzero(c.stands & ~self.held[name]) for name, (c, _) in self._contacts.items()}

    def kinds(self) -> dict[tuple[str, ...], list[Stretch]]:
        """Return the stretches of each set of contacts."""
        found: dict[tuple[str, ...], list[Stretch]] = {}
        for stretch in self._stretches():
            found.setdefault(stretch.names, []).append(stretch)
        return found

    def of(self, names: tuple[str, ...]) -> Stance:
        """Return the stance of the robot on these contacts; it is made at the first call."""
        if names not in self._stances:
            holds, topology = [self._contacts[name][1] for name in names], self._solver.topology
            self._stances[names] = self._stance(
                build_footing(topology.mechanism, holds, tuple(topology.steps), rooted=False)
            )
        return self._stances[names]

    def put(self, stretch: Stretch) -> Stance:
        """Move the contacts of a stretch, one of `kinds`, to where they are held; return the stance on them."""
        stance = self.of(stretch.names)
        for i, name in enumerate(stretch.names):
            contact, hold = self._contacts[name]
            place = hold.at(contact.position[stretch.first], contact.rotation[stretch.first])
            if stance.footing is not None:
                stance.footing.put(i, *place)
        return stance

    def placed(self) -> Iterator[tuple[Stance, int, int]]:
        """Move the contacts of each stretch in turn; yield its stance, first frame and frame after its last."""
        for stretch in self._stretches():
            yield self.put(stretch), stretch.first, stretch.last

    def all(self) -> Sequence[Stance]:
        """Return the stances that were made so far."""
        return list(self._stances.values())

    def _stretches(self) -> list[Stretch]:
        """Return the clip's stretches in order."""
        names, held = list(self.held), np.array(list(self.held.values())).reshape(-1, self._frames)
        changes = np.zeros(self._frames + 1, bool)
        changes[[0, -1]] = True
        changes[1:-1] = (held[:, 1:] != held[:, :-1]).any(axis=0)
        for name in names:
            changes[1:-1] |= self.held[name][1:] & self._elsewhere(name)
        places = np.flatnonzero(changes).tolist()
        return [
            Stretch(tuple(name for name in names if self.held[name][first]), first, last)
            for first, last in pairwise(places)
        ]

    def _elsewhere(self, name: str) -> np.ndarray:
        """Return whether a contact's place (T - 1,) is another one than in the frame before."""
        contact = self._contacts[name][0]
        shifted = (np.diff(contact.position, axis=0) != 0).any(axis=1)
        return shifted | (np.diff(contact.rotation, axis=0) != 0).any(axis=(1, 2))

    def _stance(self, footing: Footing | None) -> Stance:
        solver = self._solver
        flat = solver.flat if footing is None else prepared(footing.topology)
        rest, tied = solver.topology.rest, solver.tables.tied if solver.objectives else None
        return Stance(
            flat, new_work(flat, rest, tied, rows_of(solver.tables.hold)), new_neighbours(flat, rest), footing
        )
