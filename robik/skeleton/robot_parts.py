"""Parts of a robot: its limbs and its trunk, as `robot_anatomy` finds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .anatomy import ARM, FRONT_LEG

BENT_BACK = 0.1  # of a leg's length: a knee so far behind hip and ankle is a bird's heel


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotLimb:
    """A leg or an arm of a robot, in its rest pose.

    Attributes:
        kind: `LEG`, `ARM` or `FRONT_LEG`.
        side: "l" or "r".
        upper, lower: bodies of thigh and shin, or of upper arm and forearm.
        end: body of the foot or the hand; empty for an arm that ends with its forearm.
        points: (3, 3) hip, knee and ankle, or shoulder, elbow and wrist [m].
        start: (3,) where the upper part begins to the eye: the anchor of the last hinge that swings it [m].
        axis: (3,) about which knee or elbow turn.
        freedom: number of motions between the trunk and the end.
        has_ankle: whether foot or hand turn on the lower part; a foot that is fixed on its shin has no direction of
            its own.
    """

    kind: str
    side: str
    upper: str
    lower: str
    end: str
    points: np.ndarray
    start: np.ndarray
    axis: np.ndarray
    freedom: int
    has_ankle: bool

    @property
    def lengths(self) -> np.ndarray:
        """(2,) of the upper and the lower part [m]."""
        return np.linalg.norm(np.diff(self.points, axis=0), axis=1)

    @property
    def ways(self) -> np.ndarray:
        """(2, 3) along the upper and the lower part, as long as they [m]."""
        return np.diff([self.start, *self.points[1:]], axis=0)

    @property
    def reach(self) -> float:
        """Distance from hip to ankle when the knee is stretched [m].

        Less than both lengths where the knee lies beside the hip.
        """
        along = np.diff(self.points, axis=0) @ self.axis
        across = np.sqrt(np.maximum(self.lengths**2 - along**2, 0.0))
        return float(np.hypot(across.sum(), along.sum()))


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotAnatomy:
    """Parts of a robot.

    Attributes:
        limbs: legs and arms.
        hips, chest, head: bodies; empty where there is none.
        waist: (3,) about which the chest turns on the hips, in the rest pose [m]; None where it is one with them.
        rigid: the rigid part that each body belongs to, called by the body that its joint moves.
    """

    limbs: tuple[RobotLimb, ...]
    hips: str
    chest: str
    head: str
    waist: np.ndarray | None
    rigid: Mapping[str, str]

    def limb(self, kind: str, side: str) -> RobotLimb | None:
        """Return a limb by its kind (`leg`, `arm` or `front leg`) and side (`l` or `r`); None where there is none."""
        return next((limb for limb in self.limbs if (limb.kind, limb.side) == (kind, side)), None)

    def bends_back(self, limb: RobotLimb) -> bool:
        """Return True if a leg's knee lies clearly behind hip and ankle in the rest pose, as a bird's heel does.

        A leg that has no other beside it does not.
        """
        left, right = self.limb(limb.kind, "l"), self.limb(limb.kind, "r")
        if left is None or right is None:
            return False
        ahead = np.cross(left.points[0] - right.points[0], [0.0, 0.0, 1.0])
        hip, knee, ankle = limb.points
        way = (ankle - hip) / max(float(np.linalg.norm(ankle - hip)), 1e-9)
        beside = knee - hip - way * float(way @ (knee - hip))
        return float(beside @ ahead) < -BENT_BACK * limb.reach * float(np.linalg.norm(ahead))

    @property
    def is_upper_body(self) -> bool:
        """Return whether it has two arms and no legs, as robots that are bolted down or drive."""
        kinds = [limb.kind for limb in self.limbs]
        return kinds.count(ARM) == 2 == len(kinds)

    @property
    def is_quadruped(self) -> bool:
        """Return whether it stands on front legs too."""
        return any(limb.kind == FRONT_LEG for limb in self.limbs)
