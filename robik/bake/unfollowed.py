"""Motors that move nothing that follows, such as a head or fingers that no bone is mapped to: they stay at rest.

Balance alone would use them: to shift the centre of mass by millimetres a head without limits nodded by a quarter turn.
"""

from __future__ import annotations

from ..mechanism.kept import kept_with_robot
from ..mechanism.model import Mechanism
from ..mechanism.parts import WORLD
from ..mechanism.spanning_tree import connected_without


@kept_with_robot
def unfollowed_ranges(mechanism: Mechanism, followed: frozenset[str]) -> dict[str, tuple[float, float]]:
    """Return ranges that keep motors at rest between frames that follow and parts that nothing follows with.

    A range is the rest value, twice, by coordinate. Motors in loops, those that are coupled and balls are left alone.
    No motor is held if only one frame follows and nothing is fixed to the world.
    """
    anchors = {mechanism.frame(name).body for name in followed}
    if len(anchors) + mechanism.is_grounded < 2:
        return {}
    anchors.add(WORLD)
    coupled = {end for coupling in mechanism.couplings for end in coupling.ends}
    found: dict[str, tuple[float, float]] = {}
    for joint in mechanism.actuated:
        if joint.is_ball or coupled & {*joint.coordinate_names}:
            continue
        beyond = connected_without(mechanism, joint, joint.child)
        if joint.parent in beyond:  # in a loop
            continue
        if not anchors & beyond or not anchors & connected_without(mechanism, joint, joint.parent):
            found |= {name: (at, at) for name, at in zip(joint.coordinate_names, joint.rest, strict=True)}
    return found
