"""Two tiny problems that need every kernel of the solver: a loop, and a tree that is too large for a dense matrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..clips.clip import TargetClip, Track
from ..mechanism.model import Mechanism
from ..mechanism.parts import WORLD, Body, Joint
from ..mechanism.pose import Pose
from ..mechanism.topology import SMALL
from ..objectives.registry import ASKED
from ..objectives.rows import Row
from ..objectives.settings import Settings

TIMES = np.array([0.0, 0.1])
SETTINGS = Settings(state_weight=1e-3, length=1.0)
FREEDOMS = 6  # of a body that is not held


def loop() -> tuple[Mechanism, TargetClip]:
    """Return a parallelogram of three bars on the ground with one motor, and targets for its upper bar."""
    axis, places = (0.0, 1.0, 0.0), {"left": (0.0, 0.0, 0.0), "top": (0.0, 0.0, 1.0), "right": (1.0, 0.0, 0.0)}
    bodies = [Body(name, 1.0, pose=Pose(place)) for name, place in places.items()]
    joints = (
        Joint("left", "revolute", WORLD, "left", position=places["left"], axis=axis, actuated=True),
        Joint("top", "revolute", "left", "top", position=places["top"], axis=axis),
        Joint("right", "revolute", WORLD, "right", position=places["right"], axis=axis),
        Joint("closing", "revolute", "top", "right", position=(1.0, 0.0, 1.0), axis=axis),
    )
    path = np.array([[0.0, 0.0, 1.0], [0.1, 0.0, 1.0]])
    return Mechanism("loop", tuple(bodies), joints), TargetClip(TIMES, {"top": Track(path, _upright())})


def to_and_fro() -> TargetClip:
    """Return a clip in which the loop's upper bar turns back at once."""
    path = np.array([[0.0, 0.0, 1.0], [0.1, 0.0, 1.0], [0.0, 0.0, 1.0], [0.1, 0.0, 1.0]])
    return TargetClip(0.1 * np.arange(len(path)), {"top": Track(path)})


def tree() -> tuple[Mechanism, TargetClip]:
    """Return bodies in a row that nothing holds, too many for a dense matrix, and a target for their centre of mass."""
    names = [f"body_{k}" for k in range(SMALL // FREEDOMS + 1)]
    bodies = [Body(name, 1.0, pose=Pose((float(k), 0.0, 0.0))) for k, name in enumerate(names)]
    parents = [WORLD, *names[:-1]]
    joints = [
        Joint(body.name, "free", parent, body.name, position=body.pose.position)
        for body, parent in zip(bodies, parents, strict=True)
    ]
    middle = 0.5 * (len(names) - 1)
    com = np.array([[middle, 0.0, 0.0], [middle, 0.0, 0.1]])
    return Mechanism("tree", tuple(bodies), tuple(joints)), TargetClip(
        TIMES, {names[-1]: Track(None, _upright())}, com=com
    )


def asking_for_all(mechanism: Mechanism, clip: TargetClip) -> TargetClip:
    """Return a clip that also asks for one objective of each kind, between the robot's first two bodies."""
    frame, other = (body.name for body in mechanism.bodies[:2])
    row = Row(frame=frame, other=other, samples=len(TIMES), distance=1.0)
    asked = [objective for kind in ASKED for objective, _ in kind.of_row(mechanism, row)]
    return replace(clip, objectives=tuple(asked))


def _upright() -> np.ndarray:
    return np.tile([1.0, 0.0, 0.0, 0.0], (len(TIMES), 1))
