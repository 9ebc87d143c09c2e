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
    """Return the rest values of motors between what follows and nothing that does, as ranges.

    Motors in loops, those that are coupled and balls are left alone.

    Args:
        mechanism: The robot.
        followed: Names of the frames that follow; if only one does and nothing is fixed to the world, no motor is held.

    Returns:
        The rest value, twice, by coordinate.
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
