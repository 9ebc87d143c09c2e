"""Poses of a body by the VMC protocol (Virtual Motion Capture), which is OSC: what trackers of faces and bodies send.

A message `/VMC/Ext/Bone/Pos` has the name of a bone of Unity's humanoid, its position [m] and its rotation x, y, z, w
against its parent, both in Unity's left-handed coordinates (x right, y up, z forward). In the rest pose, arms to the
sides, all rotations are the identity. Here a body faces −y, its left is +x, and z is up:

    position (x, y, z) → (−x, −z, y),   rotation (x, y, z, w) → w, x, z, −y
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from .osc import Message

BONE = "/VMC/Ext/Bone/Pos"
PREFIX = "/VMC/"
HIPS = "Hips"
SHORTEST = 1e-3  # of a quaternion: a shorter one is none
ARM = ("Shoulder", "UpperArm", "LowerArm", "Hand")
LEG = ("UpperLeg", "LowerLeg", "Foot", "Toes")
TRUNK = ("Spine", "Chest", "UpperChest", "Neck", "Head")
# Parts of a body, as `skeleton.names` calls them.
PARTS = {
    "Hips": "hips",
    "Spine": "spine",
    "Chest": "chest",
    "Neck": "neck",
    "Head": "head",
    "Shoulder": "shoulder",
    "UpperArm": "upper arm",
    "LowerArm": "forearm",
    "Hand": "hand",
    "UpperLeg": "thigh",
    "LowerLeg": "shin",
    "Foot": "foot",
    "Toes": "toe",
}
SIDES = {"Left": "l", "Right": "r"}


def _parents() -> dict[str, str]:
    """Return the parent of each bone of the humanoid, parents first."""
    found = {HIPS: ""} | dict(zip(TRUNK, (HIPS, *TRUNK), strict=False))
    for side in SIDES:
        found |= dict(zip([side + one for one in ARM], ["UpperChest", *(side + one for one in ARM)], strict=False))
        found |= dict(zip([side + one for one in LEG], [HIPS, *(side + one for one in LEG)], strict=False))
    return found


PARENTS = _parents()


def position_of(unity: np.ndarray) -> np.ndarray:
    """Return Unity's position (3,) in a right-handed frame with z up."""
    return np.array([-unity[0], -unity[2], unity[1]])


def rotation_of(unity: np.ndarray) -> Rotation:
    """Return Unity's quaternion xyzw (4,) as a rotation in a right-handed frame with z up."""
    return Rotation.from_quat([unity[0], unity[2], -unity[1], unity[3]])


class Body:
    """A body as the last messages have it.

    Attributes:
        hips: position of the hips [m]; None before the first message of theirs.
        is_new: whether something has come since `parts` was asked last.
    """

    def __init__(self) -> None:
        self._turns: dict[str, Rotation] = {}
        self.hips: np.ndarray | None = None
        self.is_new = False

    def take(self, message: Message) -> bool:
        """Read an OSC message, and return whether it is one of VMC that can be read, of the body or not."""
        if message.address != BONE:
            return message.address.startswith(PREFIX)
        name, *numbers = message.arguments or ("",)
        values = np.array([one if isinstance(one, int | float) else np.nan for one in numbers[:7]], dtype=float)
        if not isinstance(name, str) or values.shape != (7,) or not np.isfinite(values).all():
            return False
        if np.linalg.norm(values[3:]) < SHORTEST:
            return False
        if name in PARENTS:
            self._turns[name] = rotation_of(values[3:])
            self.is_new = True
        if name == HIPS:
            self.hips = position_of(values[:3])
        return True

    def parts(self) -> dict[tuple[str, str], Rotation]:
        """Return the rotation of each part from the rest pose, in the body's frame, by part and side.

        A chest of two bones turns as its upper one. Only parts of which something has come are there.
        """
        self.is_new = False
        whole: dict[str, Rotation] = {"": Rotation.identity()}
        found: dict[tuple[str, str], Rotation] = {}
        for name, parent in PARENTS.items():
            whole[name] = whole[parent] * self._turns.get(name, Rotation.identity())
            side = next((short for long, short in SIDES.items() if name.startswith(long)), "")
            part = PARTS.get(name.removeprefix("Left").removeprefix("Right"))
            if name == "UpperChest" and name in self._turns:
                part = "chest"
            if part is not None and name in self._turns:
                found[part, side] = whole[name]
        return found
