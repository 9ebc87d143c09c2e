"""The walker's bodies: what they look like and weigh. Points are in the world, in the rest pose; the leg is the left one.

Sideways a leg is built in layers, alike to both sides of its middle plane: the servos and links, cheek plates, belts from the two
motors above the hip, cranks and levers, and outermost the rods. So nothing that turns about the hip or the knee meets anything else.
"""

from __future__ import annotations

import numpy as np

from robik.mechanism import Body, Pose
from robik.robots.parts import ACCENT, BRASS, EYE, FRAME, RUBBER, SERVO_SIZE, SHELL, STEEL, Part, ball, bar, body, box, disc, plate, servo

X, Y, Z = np.eye(3)
LEG_Y = 0.050  # of a leg's middle plane [m]
LAYER_CHEEK, LAYER_BELT, LAYER_CRANK, LAYER_ROD = 0.0183, 0.0218, 0.0266, 0.0325  # from the middle plane
DRIVE_X, DRIVE_Z = 0.0158, 0.036  # of the knee's (before) and the ankle's motor above the hip
ROLL_X = -0.055  # of the hip roll motor's middle
YAW_Z = 0.098  # of the yaw motor's middle above the hip
CRANK_WIDTH = 0.011


def torso(pelvis: np.ndarray) -> Body:
    """Pelvis plate, yaw motors, battery, chest and head."""
    deck = pelvis + 0.0815 * Z
    chest = pelvis + 0.155 * Z
    head = pelvis + 0.232 * Z
    parts: list[Part] = []
    for side in (1, -1):
        parts += servo(pelvis + YAW_Z * Z + side * LEG_Y * Y, -Z, -X)
        parts.append(
            bar(deck + 0.05 * Z + side * 0.066 * Y - 0.012 * X, chest + 0.03 * Z + side * 0.070 * Y - 0.012 * X, 0.017, 0.03, SHELL)
        )
        parts.append(ball(head + 0.037 * X + side * 0.019 * Y + 0.004 * Z, 0.0105, 0.003, RUBBER))
        parts.append(ball(head + 0.0415 * X + side * 0.019 * Y + 0.004 * Z, 0.0075, 0.002, EYE))
        parts.append(disc(head + side * 0.045 * Y, Y, 0.016, 0.008, 0.006, ACCENT))
    parts += [
        box(deck + 0.0365 * Z - 0.008 * X, (0.072, 0.150, 0.005), 0.09, FRAME),
        box(chest - 0.012 * X, (0.066, 0.128, 0.066), 0.16, SHELL),
        box(chest + 0.022 * X + 0.006 * Z, (0.006, 0.084, 0.036), 0.02, ACCENT),
        box(chest - 0.052 * X - 0.006 * Z, (0.030, 0.074, 0.070), 0.34, FRAME),
        disc(chest + 0.026 * X + 0.006 * Z, X, 0.010, 0.005, 0.005, EYE),
        disc(chest + 0.038 * Z - 0.006 * X, Z, 0.020, 0.014, 0.02, FRAME),
        bar(head - 0.022 * Y, head + 0.022 * Y, 0.036, 0.12, SHELL),
        box(head + 0.022 * X + 0.003 * Z, (0.030, 0.066, 0.030), 0.03, FRAME),
    ]
    return body("torso", Pose(tuple(pelvis)), parts)


def yaw(hip: np.ndarray) -> Body:
    """An arm from the yaw horn, over the bracket and down behind it, to the roll motor."""
    top = hip + 0.0775 * Z
    rear = hip + (ROLL_X - 0.002) * X
    parts = (
        disc(top, Z, 0.017, 0.005, 0.012, STEEL),
        plate(top - 0.0005 * Z, rear + 0.077 * Z, Z, 0.026, 0.005, 0.02, FRAME),
        box(rear + 0.056 * Z, (0.030, 0.026, 0.044), 0.025, SHELL),
        *servo(hip + ROLL_X * X, X, Z),
    )
    return body("yaw_l", Pose(tuple(hip)), parts)


def bracket(hip: np.ndarray) -> Body:
    """Carries the knee's and the ankle's motors above the hip; belts take their turning down to the cranks on the hip pitch axis."""
    knee_shaft, ankle_shaft = hip + DRIVE_X * X + DRIVE_Z * Z, hip - DRIVE_X * X + DRIVE_Z * Z
    height = SERVO_SIZE[1]
    parts = [
        *servo(knee_shaft, Y, Z),
        *servo(ankle_shaft, -Y, Z),
        box(hip + (DRIVE_Z + 0.0365) * Z, (0.060, 0.036, 0.003), 0.015, FRAME),
        box(hip - 0.0325 * X + 0.026 * Z, (0.003, 0.030, height + 0.028), 0.02, FRAME),
        disc(hip - 0.0345 * X, X, 0.013, 0.003, 0.006, STEEL),
        *(_belt(hip, knee_shaft, 1)),
        *(_belt(hip, ankle_shaft, -1)),
    ]
    for side in (1, -1):
        shaft = knee_shaft if side > 0 else ankle_shaft
        parts.append(plate(hip + side * LAYER_CHEEK * Y, shaft + side * LAYER_CHEEK * Y, Y, 0.024, 0.0018, 0.012, FRAME))
    return body("bracket_l", Pose(tuple(hip)), parts)


def _belt(hip: np.ndarray, shaft: np.ndarray, side: int) -> tuple[Part, ...]:
    low, high = hip + side * LAYER_BELT * Y, shaft + side * LAYER_BELT * Y
    span = (high - low) / np.linalg.norm(high - low)
    across = np.cross(span, Y)
    runs = (bar(low + s * 0.0105 * across, high + s * 0.0105 * across, 0.0014, 0.001, RUBBER) for s in (1, -1))
    return (disc(low, Y, 0.0105, 0.0034, 0.004, STEEL), disc(high, Y, 0.0105, 0.0034, 0.004, STEEL), *runs)


def thigh(pose: Pose, knee: np.ndarray) -> Body:
    """The hip pitch motor at its top, a shell, a fork for the knee."""
    hip = np.array(pose.position)
    down = (knee - hip) / np.linalg.norm(knee - hip)
    front = np.cross(Y, -down)
    parts = (
        *servo(hip, -Y, down),
        box(hip + 0.062 * down, (0.026, 0.030, 0.060), 0.03, FRAME, pose.matrix),
        bar(hip + 0.052 * down + 0.008 * front, hip + 0.112 * down + 0.004 * front, 0.0165, 0.05, SHELL),
        bar(hip + 0.112 * down, knee, 0.009, 0.02, FRAME),
        disc(knee, Y, 0.0125, 0.024, 0.012, STEEL),
    )
    return body("thigh_l", pose, parts)


def shank(pose: Pose, ankle: np.ndarray, lever: np.ndarray) -> Body:
    """A fork about the knee, a slim shin, a fork about the ankle, and the lever of the knee's linkage."""
    knee = np.array(pose.position)
    down = (ankle - knee) / np.linalg.norm(ankle - knee)
    front = np.cross(Y, -down)
    parts: list[Part] = []
    for side in (1, -1):
        offset = side * 0.0155 * Y
        parts.append(plate(knee + offset, knee + 0.040 * down + offset, Y, 0.022, 0.004, 0.008, FRAME))
        parts.append(plate(ankle - 0.034 * down + 1.15 * offset, ankle + 1.15 * offset, Y, 0.016, 0.0035, 0.005, FRAME))
    parts += [
        bar(knee + 0.034 * down + 0.004 * front, ankle - 0.056 * down + 0.002 * front, 0.0150, 0.040, SHELL),
        bar(knee + 0.060 * down, ankle - 0.044 * down, 0.011, 0.015, FRAME),
        box(ankle - 0.040 * down, (0.016, 0.039, 0.008), 0.008, FRAME, pose.matrix),
        ball(knee + 0.013 * front, 0.0115, 0.006, ACCENT),
        *_arm(knee, lever),
    ]
    return body("shank_l", pose, parts)


def _arm(center: np.ndarray, pin: np.ndarray) -> tuple[Part, ...]:
    """A lever in the crank layer that lies on the pin's side, with the pin reaching out into the rod layer."""
    side = np.sign((pin - center) @ Y)
    hub = center + side * LAYER_CRANK * Y
    tip = pin - side * (LAYER_ROD - LAYER_CRANK) * Y
    return (
        disc(hub, Y, 0.010, 0.0048, 0.003, STEEL),
        plate(hub, tip, Y, CRANK_WIDTH, 0.0036, 0.006, STEEL),
        bar(tip, pin + side * 0.004 * Y, 0.0025, 0.002, BRASS, "cylinder"),
    )


def crank(name: str, hip: np.ndarray, pin: np.ndarray) -> Body:
    """A crank on the hip pitch axis, driven by its belt."""
    return body(name, Pose(tuple(hip)), _arm(hip, pin))


def rod(name: str, top: np.ndarray, bottom: np.ndarray) -> Body:
    """A thin rod with an eye at each end."""
    up = (top - bottom) / np.linalg.norm(top - bottom)
    turn = np.column_stack([np.cross(Y, up), Y, up])
    eyes = (disc(end, Y, 0.0055, 0.0056, 0.003, BRASS) for end in (top, bottom))
    return body(name, Pose.of(turn, top), (bar(top, bottom, 0.0026, 0.010, STEEL), *eyes))


def bellcrank(knee: np.ndarray, front: np.ndarray, rear: np.ndarray) -> Body:
    """On the knee axis, inside: its front arm follows the thigh rod, its rear arm pulls the Cardan rod."""
    hub = knee - LAYER_CRANK * Y
    back = rear - hub
    reach = hub + back * (1 - 0.0125 / np.linalg.norm(back))
    reach[1] = hub[1]
    fork = [plate(reach + s * 0.0085 * Y - 0.006 * Y, rear + s * 0.0085 * Y, Y, 0.009, 0.0025, 0.003, STEEL) for s in (1, -1)]
    parts = (*_arm(knee, front), plate(hub, reach, Y, 0.011, 0.0040, 0.006, STEEL), *fork)
    return body("bellcrank_l", Pose(tuple(knee)), parts)


def cross(name: str, center: np.ndarray, across: np.ndarray) -> Body:
    """Of a universal joint: two pins at right angles."""
    pins = (
        bar(center - 0.0075 * Y, center + 0.0075 * Y, 0.0020, 0.002, BRASS),
        bar(center - 0.0065 * across, center + 0.0065 * across, 0.0020, 0.002, BRASS),
    )
    return body(name, Pose(tuple(center)), (*pins, ball(center, 0.0034, 0.002, BRASS)))


def rod_upper(pose: Pose, middle: np.ndarray) -> Body:
    """The Cardan rod's upper half: a fork, and the bearing of the swivel."""
    top, up, across = np.array(pose.position), pose.matrix[:, 2], pose.matrix[:, 0]
    fork = [bar(top + s * 0.0065 * across, top - 0.012 * up + s * 0.0040 * across, 0.0018, 0.001, STEEL) for s in (1, -1)]
    parts = (
        *fork,
        bar(top - 0.012 * up, middle, 0.0032, 0.007, STEEL),
        bar(middle + 0.014 * up, middle - 0.002 * up, 0.0055, 0.005, ACCENT, "cylinder"),
    )
    return body("rod_upper_l", pose, parts)


def rod_lower(pose: Pose, bottom: np.ndarray) -> Body:
    """Its lower half, which swivels about the rod."""
    middle, up, across = np.array(pose.position), pose.matrix[:, 2], pose.matrix[:, 0]
    fork = [bar(bottom + s * 0.0065 * across, bottom + 0.012 * up + s * 0.0040 * across, 0.0018, 0.001, STEEL) for s in (1, -1)]
    parts = (
        *fork,
        bar(middle, bottom + 0.012 * up, 0.0026, 0.006, STEEL),
        bar(middle - 0.002 * up, middle - 0.010 * up, 0.0048, 0.003, FRAME, "cylinder"),
    )
    return body("rod_lower_l", pose, parts)


def ankle_cross(ankle: np.ndarray) -> Body:
    """Between shank and foot: the pitch pin in the shank's fork, the roll shaft to the motor in the foot."""
    parts = (
        bar(ankle - 0.0205 * Y, ankle + 0.0205 * Y, 0.0040, 0.006, BRASS, "cylinder"),
        box(ankle, (0.016, 0.022, 0.014), 0.010, FRAME),
        bar(ankle - 0.014 * X, ankle + 0.024 * X, 0.0050, 0.006, STEEL, "cylinder"),
    )
    return body("ankle_l", Pose(tuple(ankle)), parts)


def foot(ankle: np.ndarray, lever: np.ndarray, sole: tuple[tuple[float, float], ...]) -> Body:
    """A plate on a rubber sole, the roll motor upright before the ankle, the lever behind it."""
    ground = ankle - ankle[2] * Z
    (x0, y0), (x1, y1) = np.min(sole, axis=0), np.max(sole, axis=0)
    middle = ground + (x0 + x1) / 2 * X + (y0 + y1) / 2 * Y
    length, width = x1 - x0, y1 - y0
    parts = [
        box(middle + 0.002 * Z, (length - 0.020, width, 0.004), 0.012, RUBBER),
        box(middle + 0.002 * Z, (length, width - 0.022, 0.004), 0.012, RUBBER),
        box(middle + 0.0065 * Z, (length - 0.022, width - 0.002, 0.005), 0.030, SHELL),
        *servo(ankle + 0.0415 * X, -X, -Z),
        bar(ground + 0.074 * X - 0.016 * Y + 0.012 * Z, ground + 0.074 * X + 0.020 * Y + 0.012 * Z, 0.0085, 0.010, ACCENT),
        box(ground - 0.031 * X + 0.012 * Z, (0.012, 0.030, 0.010), 0.008, FRAME),
    ]
    for side in (1, -1):
        parts.append(plate(ground - 0.028 * X + 0.014 * Z + side * 0.0085 * Y, lever + side * 0.0085 * Y, Y, 0.010, 0.0025, 0.003, FRAME))
    return body("left_foot", Pose(tuple(ankle)), parts)
