"""Goals that carry the weight live: of the present pose, whatever comes next.

What a motion's speeds and accelerations need is not known live; the weight is, by the pose alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..dynamics import InverseDynamics
from ..dynamics.contact_points import sole_contacts
from ..dynamics.drives import carry_weight
from ..errors import ClipError
from ..feet.standing import HIGH
from ..feet.support import sole_length, standing_points
from ..mechanism import Mechanism, Pose
from ..motions import BaseTrack, Motion
from ..motions.posing import posed
from ..servo.chain.chain import ServoChain
from .carrying import limits_of
from .motors import chain_drives


class LiveCarrying:
    """Goals that bring loaded servos to poses as they come.

    `gains` are position P gains by id of a servo, or of all; the chain's if left out, else the factory's. Raise
    ServoError for a motor without a servo or a servo without motor data, MechanismError for a robot without mass.
    """

    def __init__(
        self, mechanism: Mechanism, chain: ServoChain, gains: Mapping[int, float] | float | None = None
    ) -> None:
        self._room = InverseDynamics(mechanism)
        self._drives = chain_drives(chain, mechanism, gains)
        self._low, self._high = limits_of(mechanism, chain)

    @property
    def base(self) -> str:
        """Return the name of the body whose pose must be known; empty where the robot is grounded."""
        return "" if self._room.topology.base is None else self._room.topology.root or ""

    def goals(self, values: Mapping[str, float], base: Pose | None = None) -> dict[str, float]:
        """Return the goals by actuator for a pose [rad or m], within the limits of robot and servos.

        Values come back as they are where an actuator's is missing. The feet stand that are lowest. Raise ClipError for
        a floating robot without base, MechanismError where loops do not close.
        """
        mechanism = self._room.mechanism
        row = np.array([values.get(name, np.nan) for name in mechanism.actuators])
        if not np.isfinite(row).all():
            return dict(values)
        if base is None and self.base:
            raise ClipError(f"robot {mechanism.name!r} floats, so its pose needs the base {self.base!r}")
        track = None
        if base is not None and self.base:
            track = BaseTrack(
                body=self.base, position=np.array([base.position]), quaternion=np.array([base.quaternion])
            )
        pose = Motion(times=np.zeros(1), actuators=mechanism.actuators, values=row[None], base=track)
        states = posed(mechanism, pose, "the pose")[0]
        q, still = self._room.coordinates(states, "the pose"), np.zeros((1, len(self._room.flat.before)))
        contacts = sole_contacts(mechanism, self._standing(states), 1)
        torques = self._room.solve(np.zeros(1), q, still, still, contacts)
        wanted = np.clip(carry_weight(states.values, torques, self._drives)[0], self._low, self._high)
        return {**values, **dict(zip(mechanism.actuators, wanted.tolist(), strict=True))}

    def _standing(self, states: Motion) -> dict[str, np.ndarray]:
        """Return which feet stand: those that are as low as the lowest, nearly."""
        if not self.base:
            return {}
        feet = [frame for frame in self._room.mechanism.frames if frame.is_foot]
        heights = {f.name: float(standing_points(self._room.mechanism, states, f.name)[0, :, 2].mean()) for f in feet}
        lowest = min(heights.values(), default=0.0)
        return {f.name: np.array([heights[f.name] - lowest < HIGH * sole_length(f)]) for f in feet}
