"""Limits of balls as limits of coordinates, which the solver holds as it does any other.

A ball has no angle of its own that a limit could bound. So a massless twin slides along an axis of the ball's parent
side, and one closure row keeps it level with the tip of an axis of the child side, L away from the centre:

    s = L a · R b

A cone is a lower limit of s, L cos(cone). The whole turn θ between the two sides has 1 + 2 cos θ = Σ aᵢ · R bᵢ: three
twins measure the sum's terms, a fourth is coupled to all of them, and its lower limit is that of the turn. A limit of
the speed bounds the turn since the frame before: the tips are set level with the axes in every frame. Where a ball also
slides, a twin that slides with it stands for its parent side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import cos, inf, pi

import numpy as np

from .constraints import joint_matrices
from .joints import MOTIONS, SLIDES, TURNS
from .model import Mechanism
from .parts import Coupling, Joint
from .size import mean_link
from .spanning_tree import Tree, spanning_tree

TIED = ("ty", "tz", "rx", "ry", "rz")  # free between a twin and the child: all but the way along its axis
LONGEST = 0.5  # m
SUM = (0.0, 1.0)  # follower = leader + the others


@dataclass
class Measured:
    """Tree, cuts and couplings of a robot whose balls are measured.

    Attributes:
        tree, cuts: as `spanning_tree` returns them, with what measures.
        couplings: of the coordinates that measure turns.
        steps: names of the coordinates that measure the turn since the frame before, by the ball's name: three terms
            and their sum.
    """

    tree: Tree
    cuts: list[Joint]
    couplings: list[Coupling] = field(default_factory=list)
    steps: dict[str, tuple[str, ...]] = field(default_factory=dict)


def measure_balls(mechanism: Mechanism, held: Sequence[str] = ()) -> Measured:
    """Return a mechanism's tree and cuts with twins that measure its limited balls.

    The turn of `held` balls from frame to frame is measured, too.
    """
    found, size = Measured(*spanning_tree(mechanism)), tip_distance(mechanism)
    for joint in mechanism.joints:
        if joint.name in held and not joint.turns_freely:
            joint = _put_centre(found, joint)
        if joint.cone < pi:
            _put_term(found, joint, 0, "cone", size, size * cos(joint.cone))
        if joint.turn_limit < pi:
            _put_turn(found, joint, "turn", size, size * (1.0 + 2.0 * cos(joint.turn_limit)))
        if joint.name in held:
            found.steps[joint.name] = _put_turn(found, joint, "step", size, -inf)
    return found


def limit_names(joint: Joint) -> tuple[str, str]:
    """Return the names of the coordinates that measure a ball's cone and its whole turn."""
    return f"{joint.name}.cone", f"{joint.name}.turn"


def tip_distance(mechanism: Mechanism) -> float:
    """Return the distance L [m] of tips from a ball's centre.

    Short enough that a twin's own motion is the largest entry of its row: then the twin follows the ball, and not
    the ball the twin.
    """
    return min(mean_link(mechanism), LONGEST)


def _put_centre(found: Measured, joint: Joint) -> Joint:
    """Let a massless twin slide with a ball that also slides; return the joint as the ball on the twin that it is."""
    twin, slides = f"(centre of {joint.name})", tuple(motion for motion in joint.motions if motion in SLIDES)
    parent_R = joint_matrices(joint).parent
    axis, axis2 = tuple(parent_R[:, 0]), tuple(parent_R[:, 1])
    along, turned = joint.rest[: len(slides)], joint.rest[len(slides) :]
    centre = Joint(
        f"{joint.name}.centre", "general", joint.parent, twin, position=joint.position, axis=axis, axis2=axis2,
        motions=slides, rest=along,
    )  # fmt: skip
    together = Joint(
        f"{joint.name}.together", "general", twin, joint.child, position=joint.position, axis=axis, axis2=axis2,
        motions=tuple(motion for motion in MOTIONS if motion not in slides),
    )  # fmt: skip
    found.tree.append((twin, centre))
    found.cuts.append(together)
    return replace(joint, type="spherical", parent=twin, motions=TURNS, limits=(), rest=turned)


def _put_turn(found: Measured, joint: Joint, of: str, size: float, lower: float) -> tuple[str, ...]:
    """Measure the whole turn; return the names of the coordinates, the sum last."""
    terms = [_put_term(found, joint, k, f"{of}.{'xyz'[k]}", size, -inf) for k in range(3)]
    name, twin = f"{joint.name}.{of}", f"({of} of {joint.name})"
    rest = sum(one.rest[0] for one in terms)
    total = Joint(name, "prismatic", joint.parent, twin, position=joint.position, limits=((lower, inf),), rest=(rest,))
    found.tree.append((twin, total))
    names = [one.name for one in terms]
    found.couplings.append(Coupling(name, name, names[0], coefficients=SUM, others=tuple((n, 1.0) for n in names[1:])))
    return (*names, name)


def _put_term(found: Measured, joint: Joint, k: int, of: str, size: float, lower: float) -> Joint:
    """Measure how far the tip of axis k of the child side is along that of the parent side; return the twin's joint."""
    parent_R, _, child_R = joint_matrices(joint)
    along, tip = parent_R[:, k], np.array(joint.position) + size * child_R[:, k]
    axis, value = tuple(along.tolist()), size * float(along @ child_R[:, k])
    name, twin = f"{joint.name}.{of}", f"({of} of {joint.name})"
    place = tuple((np.array(joint.position) + value * along).tolist())
    slide = Joint(
        name, "prismatic", joint.parent, twin, position=place, axis=axis, limits=((lower, inf),), rest=(value,)
    )
    level = Joint(name, "general", twin, joint.child, position=tuple(tip.tolist()), axis=axis, motions=TIED)
    found.tree.append((twin, slide))
    found.cuts.append(level)
    return slide
