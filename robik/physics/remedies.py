"""Remedies for a motion that falls, and the motions that they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import convolve1d, maximum_filter1d
from scipy.spatial.transform import Rotation

from ..bake.bake import bake
from ..bake.request import BakeRequest
from ..bake.settings import OFF, BakeSettings, Balance
from ..clips.clip import TargetClip, Track
from ..collision.apart import Walls
from ..feet.legs import pelvis
from ..feet.standing import standing_phases
from ..feet.swings import landing_softly, narrowed
from ..kinematics.frames import frame_poses
from ..mechanism import Mechanism
from ..mechanism.orientations import quaternions
from ..motions import Motion
from ..motions.needs import Needs
from ..motions.posing import posed
from ..objectives.posture import Posture, drawable_coordinates
from ..objectives.weights import Weights

FIRM = Weights((10.0, 10.0, 10.0), (10.0, 10.0, 10.0))  # of feet
HIPS = Weights((0.0, 0.0, 1.0), (1.0, 1.0, 1.0))  # whose level place is left to balance
POSTURE = 1e-2  # of each motor's own values
NORMAL = 0.01  # [m] of margin


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """Changes of a motion.

    Attributes:
        carry: whether goals carry the weight.
        p_gain: of the servos; None for that of the factory.
        stiffness: of legs without servos, at least this share of m g h; 0 for the motors' own.
        feedback: whether tilt is fed back to ankles and hips.
        pace: of a balance that is planned again: still or moving; None to leave balance as it is.
        margin: of that balance [m].
        windows: stretches (start, end) of the motion that are played slower [s]; all of it where it is one from −inf.
        speed: in them; 1 is the motion's own.
        swing: share of its way that each swing goes.
        soft: whether feet land without speed.
        rehearsed: whether a planner changes it in physics.
    """

    carry: bool = False
    p_gain: float | None = None
    stiffness: float = 0.0
    feedback: bool = False
    pace: str | None = None
    margin: float = 0.0
    windows: tuple[tuple[float, float], ...] = ()
    speed: float = 1.0
    swing: float = 1.0
    soft: bool = False
    rehearsed: bool = False

    @property
    def moves_alike(self) -> bool:
        """Return whether the motion stays as it is."""
        return self.of_motion == Remedy()

    @property
    def of_motion(self) -> Remedy:
        """Return the part of it that changes the motion, without what is set in the motors."""
        return replace(self, carry=False, p_gain=None, stiffness=0.0, feedback=False, rehearsed=False)

    @property
    def needs(self) -> Needs | None:
        """Return the settings of the motors in it; None where they are the motors' own."""
        found = Needs(
            carry_weight=self.carry,
            tilt_feedback=self.feedback,
            p_gain=self.p_gain,
            stiffness=self.stiffness or None,
        )
        return found if found.as_data() else None

    def times(self, times: np.ndarray) -> np.ndarray:
        """Return the times of samples (T,) that are played slower in the windows [s]."""
        if not self.windows or self.speed == 1.0:
            return times
        inside = np.zeros(len(times), dtype=bool)
        for start, end in self.windows:
            inside |= (times >= start) & (times <= end)
        steps = np.diff(times)
        slow = np.where(inside[1:] & inside[:-1], 1.0 / self.speed, 1.0)
        return times[0] + np.concatenate([[0.0], np.cumsum(steps * _gentle(slow, times))])


def _gentle(slow: np.ndarray, times: np.ndarray, seconds: float = 0.4) -> np.ndarray:
    """Return factors of time steps (T − 1,) whose changes take some time; none is shorter than it was."""
    if slow.min() == slow.max():
        return slow
    step = float(np.diff(times).mean())
    reach = max(1, round(seconds / step))
    wide = maximum_filter1d(slow, 2 * reach + 1, mode="nearest")
    kernel = np.hanning(2 * reach + 1)[1:-1]
    return np.asarray(convolve1d(wide, kernel / kernel.sum(), mode="nearest"))


@dataclass(frozen=True, kw_only=True, eq=False)
class Source:
    """Origin of a motion, so that it can be made again otherwise.

    Attributes:
        motion: as it is.
        request: for the bake that makes it.
    """

    motion: Motion
    request: BakeRequest

    @property
    def mechanism(self) -> Mechanism:
        """The robot."""
        return self.request.mechanism

    def made(self, remedy: Remedy) -> tuple[Motion, TargetClip | None]:
        """Return the motion with a remedy, and the clip that it follows; None for a motion that stays as it is.

        Raise ClipError where the clip cannot be balanced.
        """
        if remedy.moves_alike:
            return self.motion, None
        made = bake(self._request(remedy))
        return made.motion, made.clip

    def _request(self, remedy: Remedy) -> BakeRequest:
        """Return the request with a remedy."""
        clip, balance = self.request.clip, self.request.balance
        clip = replace(clip, times=remedy.times(clip.times))
        if remedy.swing < 1.0:
            clip = narrowed(clip, remedy.swing)
        if remedy.soft:
            clip = landing_softly(self.mechanism, clip)
        if remedy.pace is not None:
            balance = replace(balance, mode=remedy.pace, margin=remedy.margin, gives=0.0, pin_feet=True)
        return replace(self.request, clip=clip, balance=balance)


def source_of(
    mechanism: Mechanism,
    motion: Motion,
    source: str = "the motion",
    walls: Callable[[], Walls | None] | None = None,
) -> Source:
    """Return a motion's own feet, hips and posture as a clip to follow, where it comes without one.

    `walls` makes the walls that keep the robot's bodies apart; None where nothing does.
    """
    states, _ = posed(mechanism, motion, source)
    assert states.position is not None
    assert states.quaternion is not None
    phases = standing_phases(mechanism, states)
    tracks, targets = {}, {}
    for name, stands in phases.items():
        position, turns = frame_poses(mechanism, name, states.position, states.quaternion)
        track = Track(position, quaternions(Rotation.from_matrix(turns)), contact=stands)
        tracks[name], targets[name] = track, FIRM
    hips = pelvis(mechanism) or max(mechanism.bodies, key=lambda body: body.mass).name
    index = states.bodies.index(hips)
    tracks[hips], targets[hips] = Track(states.position[:, index], states.quaternion[:, index]), HIPS
    drawable = [name for name in drawable_coordinates(mechanism) if name in states.actuators]
    postures = tuple(Posture(name, states.values[:, states.actuators.index(name)]) for name in drawable)
    clip = TargetClip(states.times - states.times[0], tracks, objectives=postures)
    weights = {posture.key: POSTURE for posture in postures}
    request = BakeRequest(
        mechanism=mechanism,
        clip=clip,
        weights=targets,
        balance=Balance(mode=OFF),
        settings=BakeSettings(look_ahead=False, keep_apart=walls is not None),
        objectives=weights,
        walls=walls,
    )
    return Source(motion=motion, request=request)
