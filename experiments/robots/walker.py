"""The walker: a biped of 31 bodies.

Its legs keep five of six motors in the hip and pass their motion down by linkages.

Drawn in the rest pose: x forward, y left, z up, soles on z = 0, knees a little bent. The right leg mirrors the left.
Per leg:

    torso ─ hip_yaw ─ hip_roll ─ bracket ─ hip_pitch ─ thigh ─ knee hinge ─ shank ─ ankle hinge ─ ankle cross ─
    ankle_roll ─ foot

    loop 1   bracket ─ knee (crank, on the hip pitch axis) ─ knee rod ─ lever of the shank: a parallelogram behind the
    thigh, outside loop 2   bracket ─ ankle_pitch (crank, same axis) ─ thigh rod ─ bellcrank on the knee axis: a
    parallelogram before the thigh, inside loop 3   bellcrank ─ Cardan rod (cross, upper half, swivel, lower half,
    cross) ─ lever behind the foot, which hangs on the ankle cross

Loops 1 and 2 are planar, which makes three of each one's closure rows redundant; loop 3 is spatial and has none. So per
leg 15 bodies, 18 hinges, 6 motors, and 6 degrees of freedom.

Signs read the same on both sides, so equal values on both sides are a mirror-symmetric pose: hip_yaw turns the toes
outward, hip_roll lifts the leg sideways, hip_pitch swings the thigh forward, knee bends the knee (its crank turns with
the shank), ankle_pitch lifts the toes (its crank turns with the foot, by a little over half as much), ankle_roll lifts
the outer edge of the foot. All are 0 at rest.

`python -m experiments.robots.walker` rewrites walker.robik.json.
"""

from __future__ import annotations

from dataclasses import replace
from math import cos, inf, isfinite, radians, sin

import numpy as np

from experiments.robots import walker_bodies
from experiments.robots.parts import along, driven, rounded
from experiments.robots.walker_bodies import LAYER_ROD, LEG_Y, X, Y, Z
from robik.formats import save_robot
from robik.mechanism import Body, Frame, Joint, Mechanism, Pose, Visual
from robik.robots import FOLDER

LINK = 0.130  # thigh and shank alike, axis to axis [m]
CROUCH = radians(24)  # of the thigh before the vertical, and of the shank behind it, at rest
ANKLE_Z = 0.045  # of the ankle axes above the sole

KNEE_CRANK = 0.036  # crank of loop 1, and its lever on the shank
KNEE_LEVER = radians(
    32.5
)  # from the shank's downward direction to its lever, backward: square to the rod halfway through the knee's range
ANKLE_CRANK = 0.036  # crank of loop 2, and the bellcrank's front arm
BELL_FRONT = radians(-146)  # likewise, to the bellcrank's front arm
BELL_REAR = radians(76)  # likewise, to its rear arm
BELL_ARM = 0.050  # rear arm; longer than the foot's lever, so that the bellcrank need not turn as far as the foot
FOOT_LEVER = np.array(
    [-0.026, 0.0, 0.009]
)  # from the ankle; near the roll axis, so that rolling the foot hardly pulls on the Cardan rod

HIP = np.array([0.0, LEG_Y, ANKLE_Z + 2 * LINK * cos(CROUCH)])
SOLE = (  # the left foot's outline about the ankle: x, y [m]
    *((0.088, 0.018), (0.078, 0.034), (-0.036, 0.034), (-0.046, 0.024)),
    *((-0.046, -0.022), (-0.036, -0.030), (0.078, -0.030), (0.088, -0.020)),
)

LIMITS = {  # of the motors from the rest pose [degrees]
    "hip_yaw_l": (-40, 40),
    "hip_roll_l": (-25, 25),
    "hip_pitch_l": (-54, 46),  # thigh 30 behind to 70 before the vertical
    "knee_l": (-90, 117),  # the shank against the bracket: knee bend less thigh swing
    "ankle_pitch_l": (-137, 112),  # the foot's share against the bracket
    "ankle_roll_l": (-25, 25),
    "knee_hinge_l": (-43, 62),  # knee bent by 5 to 110
    "ankle_hinge_l": (-36, 36),
}


def build() -> Mechanism:
    """Return the robot, in its rest pose."""
    left = Leg()
    bodies, joints, frames = left.bodies(), left.joints(), left.frames()
    pelvis = Frame("pelvis", "torso")
    return Mechanism(
        "walker",
        (walker_bodies.torso(np.array([0.0, 0.0, HIP[2]])), *bodies, *(mirrored_body(b) for b in bodies)),
        (*joints, *(mirrored_joint(j) for j in joints)),
        frames=(pelvis, *frames, *(mirrored_frame(f) for f in frames)),
    )


def backward(direction: np.ndarray, angle: float) -> np.ndarray:
    """Return a direction turned about y: what points down goes back."""
    c, s = cos(angle), sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]) @ direction


class Leg:
    """The left leg's points and directions at rest, world coordinates."""

    def __init__(self) -> None:
        self.hip = HIP
        self.thigh_down = np.array([sin(CROUCH), 0.0, -cos(CROUCH)])
        self.shank_down = np.array([-sin(CROUCH), 0.0, -cos(CROUCH)])
        self.knee = self.hip + LINK * self.thigh_down
        self.ankle = np.array([0.0, LEG_Y, ANKLE_Z])
        outside, inside = LAYER_ROD * Y, -LAYER_ROD * Y
        lever = KNEE_CRANK * backward(self.shank_down, KNEE_LEVER)
        self.knee_pin_top, self.knee_pin_bottom = self.hip + outside + lever, self.knee + outside + lever
        arm = ANKLE_CRANK * backward(self.shank_down, BELL_FRONT)
        self.thigh_pin_top, self.thigh_pin_bottom = self.hip + inside + arm, self.knee + inside + arm
        self.cardan_top = self.knee + inside + BELL_ARM * backward(self.shank_down, BELL_REAR)
        self.cardan_bottom = self.ankle + FOOT_LEVER
        span = self.cardan_bottom - self.cardan_top
        self.cardan_down = span / np.linalg.norm(span)
        across = np.cross(self.cardan_down, Y)
        self.cardan_across = across / np.linalg.norm(across)  # forward: square to y and to the rod
        self.cardan_middle = self.cardan_top + 0.5 * span

    def bodies(self) -> tuple[Body, ...]:
        """Return the leg's 15 bodies."""
        b = walker_bodies
        thigh = Pose.of(along(-self.thigh_down, X), self.hip)
        shank = Pose.of(along(-self.shank_down, X), self.knee)
        cardan = along(-self.cardan_down, self.cardan_across)
        return (
            b.yaw(self.hip),
            b.bracket(self.hip),
            b.thigh(thigh, self.knee),
            b.shank(shank, self.ankle, self.knee_pin_bottom),
            b.crank("knee_crank_l", self.hip, self.knee_pin_top),
            b.rod("knee_rod_l", self.knee_pin_top, self.knee_pin_bottom),
            b.crank("ankle_crank_l", self.hip, self.thigh_pin_top),
            b.rod("thigh_rod_l", self.thigh_pin_top, self.thigh_pin_bottom),
            b.bellcrank(self.knee, self.thigh_pin_bottom, self.cardan_top),
            b.cross("cross1_l", self.cardan_top, self.cardan_across),
            b.rod_upper(Pose.of(cardan, self.cardan_top), self.cardan_middle),
            b.rod_lower(Pose.of(cardan, self.cardan_middle), self.cardan_bottom),
            b.cross("cross2_l", self.cardan_bottom, self.cardan_across),
            b.ankle_cross(self.ankle),
            b.foot(self.ankle, self.cardan_bottom, SOLE),
        )

    def joints(self) -> tuple[Joint, ...]:
        """Return the leg's 18 hinges, those that close the loops after those that hang the bodies."""
        return (
            motor("hip_yaw_l", "torso", "yaw_l", self.hip, Z),
            motor("hip_roll_l", "yaw_l", "bracket_l", self.hip, X),
            motor("hip_pitch_l", "bracket_l", "thigh_l", self.hip, -Y),
            motor("knee_l", "bracket_l", "knee_crank_l", self.hip, Y),
            motor("ankle_pitch_l", "bracket_l", "ankle_crank_l", self.hip, -Y),
            hinge("knee_hinge_l", "thigh_l", "shank_l", self.knee, Y),
            hinge("knee_rod_top_l", "knee_crank_l", "knee_rod_l", self.knee_pin_top, Y),
            hinge("thigh_rod_top_l", "ankle_crank_l", "thigh_rod_l", self.thigh_pin_top, -Y),
            hinge("bellcrank_hinge_l", "thigh_l", "bellcrank_l", self.knee, -Y),
            hinge("cross1_pitch_l", "bellcrank_l", "cross1_l", self.cardan_top, -Y),
            hinge("cross1_roll_l", "cross1_l", "rod_upper_l", self.cardan_top, self.cardan_across),
            hinge("rod_swivel_l", "rod_upper_l", "rod_lower_l", self.cardan_middle, -self.cardan_down),
            hinge("cross2_roll_l", "rod_lower_l", "cross2_l", self.cardan_bottom, self.cardan_across),
            hinge("ankle_hinge_l", "shank_l", "ankle_l", self.ankle, -Y),
            motor("ankle_roll_l", "ankle_l", "left_foot", self.ankle, X),
            hinge("knee_rod_bottom_l", "knee_rod_l", "shank_l", self.knee_pin_bottom, Y),
            hinge("thigh_rod_bottom_l", "thigh_rod_l", "bellcrank_l", self.thigh_pin_bottom, -Y),
            hinge("cross2_pitch_l", "cross2_l", "left_foot", self.cardan_bottom, -Y),
        )

    def frames(self) -> tuple[Frame, ...]:
        """Return the foot's, on the sole under the ankle."""
        return (Frame("foot_l", "left_foot", Pose((0.0, 0.0, -ANKLE_Z)), tuple((x, y, 0.0) for x, y in SOLE)),)


def hinge(name: str, parent: str, child: str, position: np.ndarray, axis: np.ndarray) -> Joint:
    """Return a passive revolute joint."""
    low, high = (radians(v) for v in LIMITS.get(name, (-inf, inf)))
    limits = ((round(low, 9), round(high, 9)),) if isfinite(low) else ()
    return Joint(name, "revolute", parent, child, position=rounded(position, 12), axis=rounded(axis, 12), limits=limits)


def motor(name: str, parent: str, child: str, position: np.ndarray, axis: np.ndarray) -> Joint:
    """Return a hinge with a motor."""
    return driven(hinge(name, parent, child, position, axis))


# The right leg: everything left reflected in the plane y = 0. Reflected turns go the other way, so axes are reflected
# and reversed.


def mirrored_body(body: Body) -> Body:
    """Return a right leg's body of a left one's; the primitives are their own mirror images."""
    xx, yy, zz, xy, xz, yz = body.inertia
    x, y, z = body.com
    visuals = tuple(Visual(v.shape, v.size, pose=mirrored_pose(v.pose), color=v.color) for v in body.visuals)
    return Body(
        right(body.name),
        body.mass,
        com=(x, 0.0 - y, z),
        inertia=(xx, yy, zz, 0.0 - xy, xz, 0.0 - yz),
        pose=mirrored_pose(body.pose),
        visuals=visuals,
    )


def mirrored_joint(joint: Joint) -> Joint:
    """Return a right leg's joint of a left one's; equal values are mirror images."""
    (px, py, pz), (ax, ay, az) = joint.position, joint.axis
    return replace(
        joint,
        name=right(joint.name),
        parent=right(joint.parent),
        child=right(joint.child),
        position=(px, 0.0 - py, pz),
        axis=(0.0 - ax, ay, 0.0 - az),
    )


def mirrored_frame(frame: Frame) -> Frame:
    """Return a right foot of a left one; its outline still runs counterclockwise."""
    sole = tuple((x, 0.0 - y, z) for x, y, z in reversed(frame.sole))
    return Frame(right(frame.name), right(frame.body), mirrored_pose(frame.pose), sole)


def mirrored_pose(pose: Pose) -> Pose:
    """Return a pose mirrored at the plane between left and right."""
    (x, y, z), (qw, qx, qy, qz) = pose.position, pose.quaternion
    return Pose((x, 0.0 - y, z), (qw, 0.0 - qx, qy, 0.0 - qz))


def right(name: str) -> str:
    """Return the right leg's name of a left one's."""
    return name.removesuffix("_l") + "_r" if name.endswith("_l") else name.replace("left_", "right_")


if __name__ == "__main__":
    save_robot(build(), FOLDER / "walker.robik.json")
