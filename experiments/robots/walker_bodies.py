"""The walker's bodies: what they look like and weigh.

Points are in the world, in the rest pose; the leg is the left one.

Sideways a leg is built in layers, alike to both sides of its middle plane: the servos and links, cheek plates, belts
from the two motors above the hip, cranks and levers, and outermost the rods. So nothing that turns about the hip or the
knee meets anything else.
"""

from __future__ import annotations

import numpy as np

from experiments.robots.parts import (
    ACCENT,
    BRASS,
    EYE,
    FRAME,
    RUBBER,
    SERVO_SIZE,
    SHELL,
    STEEL,
    Part,
    ball,
    bar,
    body,
    box,
    disc,
    plate,
    servo,
)
from robik.mechanism import Body, Pose

X, Y, Z = np.eye(3)
LEG_Y = 0.050  # of a leg's middle plane [m]
LAYER_CHEEK, LAYER_BELT, LAYER_CRANK, LAYER_ROD = 0.0183, 0.0218, 0.0266, 0.0325  # from the middle plane
DRIVE_X, DRIVE_Z = 0.0158, 0.036  # of the knee's (before) and the ankle's motor above the hip
ROLL_X = -0.055  # of the hip roll motor's middle
YAW_Z = 0.098  # of the yaw motor's middle above the hip
CRANK_WIDTH = 0.011


def torso(pelvis: np.ndarray) -> Body:
    """Pelvis plate, yaw motors, chest with the battery on its back, head."""
    deck, chest, head = pelvis + 0.118 * Z, pelvis + 0.170 * Z, pelvis + 0.242 * Z
    parts: list[Part] = [
        box(deck - 0.012 * X, (0.062, 0.136, 0.005), 0.06, FRAME),
        disc(deck + 0.010 * Z - 0.006 * X, Z, 0.026, 0.018, 0.03, FRAME),
        bar(chest - 0.016 * Z - 0.006 * X - 0.028 * Y, chest - 0.016 * Z - 0.006 * X + 0.028 * Y, 0.032, 0.08, SHELL),
        bar(chest + 0.008 * Z - 0.040 * Y, chest + 0.008 * Z + 0.040 * Y, 0.038, 0.10, SHELL),
        bar(
            chest + 0.008 * Z + 0.0155 * X - 0.022 * Y, chest + 0.008 * Z + 0.0155 * X + 0.022 * Y, 0.024, 0.02, ACCENT
        ),
        disc(chest + 0.008 * Z + 0.0385 * X, X, 0.0085, 0.004, 0.004, EYE),
        box(chest - 0.046 * X - 0.002 * Z, (0.032, 0.078, 0.074), 0.28, FRAME),
        box(chest - 0.046 * X + 0.022 * Z, (0.0328, 0.0788, 0.008), 0.004, ACCENT),
        disc(chest + 0.046 * Z, Z, 0.017, 0.020, 0.02, FRAME),
        bar(head - 0.022 * Y, head + 0.022 * Y, 0.035, 0.09, SHELL),
        bar(head + 0.0185 * X - 0.0185 * Y, head + 0.0185 * X + 0.0185 * Y, 0.0205, 0.03, RUBBER),
    ]
    for side in (1, -1):
        parts += servo(pelvis + YAW_Z * Z + side * LEG_Y * Y, -Z, -X)
        shoulder, eye = chest + 0.010 * Z + side * 0.080 * Y, head + 0.0335 * X + side * 0.0165 * Y + 0.001 * Z
        parts.append(disc(shoulder - side * 0.005 * Y, Y, 0.020, 0.010, 0.01, ACCENT))
        parts.append(
            bar(shoulder + side * 0.008 * Y, shoulder + side * 0.012 * Y - 0.032 * Z - 0.004 * X, 0.0150, 0.03, SHELL)
        )
        parts.append(ball(eye, 0.0085, 0.003, EYE))
        parts.append(disc(head + side * 0.0555 * Y, Y, 0.013, 0.006, 0.006, ACCENT))
    return body("torso", Pose(tuple(pelvis)), parts)


def yaw(hip: np.ndarray) -> Body:
    """Return an arm from the yaw horn, over the bracket and down behind it, to the roll motor."""
    top = hip + 0.0775 * Z
    rear = hip + (ROLL_X - 0.002) * X
    parts = (
        disc(top, Z, 0.017, 0.005, 0.012, STEEL),
        *plate(top - 0.0005 * Z, rear + 0.077 * Z, Z, 0.026, 0.005, 0.02, FRAME),
        box(rear + 0.056 * Z, (0.030, 0.026, 0.044), 0.025, SHELL),
        *servo(hip + ROLL_X * X, X, Z),
    )
    return body("yaw_l", Pose(tuple(hip)), parts)


def bracket(hip: np.ndarray) -> Body:
    """Carry the knee's and the ankle's motors above the hip.

    Belts take their turning down to the cranks on the hip pitch axis.
    """
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
        parts.extend(
            plate(hip + side * LAYER_CHEEK * Y, shaft + side * LAYER_CHEEK * Y, Y, 0.024, 0.0018, 0.012, FRAME)
        )
    return body("bracket_l", Pose(tuple(hip)), parts)


def _belt(hip: np.ndarray, shaft: np.ndarray, side: int) -> tuple[Part, ...]:
    low, high = hip + side * LAYER_BELT * Y, shaft + side * LAYER_BELT * Y
    span = (high - low) / np.linalg.norm(high - low)
    across = np.cross(span, Y)
    runs = (bar(low + s * 0.0105 * across, high + s * 0.0105 * across, 0.0014, 0.001, RUBBER) for s in (1, -1))
    return (disc(low, Y, 0.0105, 0.0034, 0.004, STEEL), disc(high, Y, 0.0105, 0.0034, 0.004, STEEL), *runs)


def thigh(pose: Pose, knee: np.ndarray) -> Body:
    """Return the hip pitch motor at its top, a shell, the knee's bearing."""
    hip = np.array(pose.position)
    down = (knee - hip) / np.linalg.norm(knee - hip)
    front = np.cross(Y, -down)
    parts = (
        *servo(hip, -Y, down),
        box(hip + 0.038 * down, (0.024, 0.030, 0.010), 0.01, FRAME, pose.matrix),
        bar(hip + 0.056 * down + 0.003 * front, knee - 0.045 * down + 0.002 * front, 0.0178, 0.06, SHELL),
        disc(hip + 0.068 * down + 0.0027 * front, down, 0.0183, 0.006, 0.01, ACCENT),
        bar(knee - 0.045 * down, knee, 0.0095, 0.02, FRAME),
        disc(knee, Y, 0.0125, 0.024, 0.012, STEEL),
    )
    return body("thigh_l", pose, parts)


def shank(pose: Pose, ankle: np.ndarray, lever: np.ndarray) -> Body:
    """Return a fork about the knee, a slim shin, a fork about the ankle, and the lever of the knee's linkage."""
    knee = np.array(pose.position)
    down = (ankle - knee) / np.linalg.norm(ankle - knee)
    front = np.cross(Y, -down)
    parts: list[Part] = []
    for side in (1, -1):
        offset = side * 0.0155 * Y
        parts.extend(plate(knee + offset, knee + 0.040 * down + offset, Y, 0.022, 0.004, 0.008, FRAME))
        parts.extend(plate(ankle - 0.034 * down + 1.15 * offset, ankle + 1.15 * offset, Y, 0.016, 0.0035, 0.005, FRAME))
    parts += [
        bar(knee + 0.034 * down + 0.004 * front, ankle - 0.056 * down + 0.002 * front, 0.0150, 0.040, SHELL),
        bar(knee + 0.060 * down, ankle - 0.044 * down, 0.011, 0.015, FRAME),
        box(ankle - 0.040 * down, (0.016, 0.039, 0.008), 0.008, FRAME, pose.matrix),
        ball(knee + 0.013 * front, 0.0115, 0.006, ACCENT),
        *_arm(knee, lever),
    ]
    return body("shank_l", pose, parts)


def _arm(center: np.ndarray, pin: np.ndarray) -> tuple[Part, ...]:
    """Return a lever in the crank layer that lies on the pin's side, with the pin reaching out into the rod layer."""
    side = np.sign((pin - center) @ Y)
    hub = center + side * LAYER_CRANK * Y
    tip = pin - side * (LAYER_ROD - LAYER_CRANK) * Y
    return (
        disc(hub, Y, 0.010, 0.0048, 0.003, STEEL),
        *plate(hub, tip, Y, CRANK_WIDTH, 0.0036, 0.006, STEEL),
        bar(tip, pin + side * 0.004 * Y, 0.0025, 0.002, BRASS, "cylinder"),
    )


def crank(name: str, hip: np.ndarray, pin: np.ndarray) -> Body:
    """Return a crank on the hip pitch axis, driven by its belt."""
    return body(name, Pose(tuple(hip)), _arm(hip, pin))


def rod(name: str, top: np.ndarray, bottom: np.ndarray) -> Body:
    """Return a thin rod with an eye at each end."""
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
    cheeks = [s * 0.0085 * Y for s in (1, -1)]
    fork = [
        part
        for cheek in cheeks
        for part in plate(reach + cheek - 0.006 * Y, rear + cheek, Y, 0.009, 0.0025, 0.003, STEEL)
    ]
    parts = (*_arm(knee, front), *plate(hub, reach, Y, 0.011, 0.0040, 0.006, STEEL), *fork)
    return body("bellcrank_l", Pose(tuple(knee)), parts)


def cross(name: str, center: np.ndarray, across: np.ndarray) -> Body:
    """Of a universal joint: two pins at right angles."""
    pins = (
        bar(center - 0.0075 * Y, center + 0.0075 * Y, 0.0020, 0.002, BRASS),
        bar(center - 0.0065 * across, center + 0.0065 * across, 0.0020, 0.002, BRASS),
    )
    return body(name, Pose(tuple(center)), (*pins, ball(center, 0.0034, 0.002, BRASS)))


def rod_upper(pose: Pose, middle: np.ndarray) -> Body:
    """Return the Cardan rod's upper half: a fork, and the bearing of the swivel."""
    top, up, across = np.array(pose.position), pose.matrix[:, 2], pose.matrix[:, 0]
    fork = [
        bar(top + s * 0.0065 * across, top - 0.012 * up + s * 0.0040 * across, 0.0018, 0.001, STEEL) for s in (1, -1)
    ]
    parts = (
        *fork,
        bar(top - 0.012 * up, middle, 0.0032, 0.007, STEEL),
        bar(middle + 0.014 * up, middle - 0.002 * up, 0.0055, 0.005, ACCENT, "cylinder"),
    )
    return body("rod_upper_l", pose, parts)


def rod_lower(pose: Pose, bottom: np.ndarray) -> Body:
    """Its lower half, which swivels about the rod."""
    middle, up, across = np.array(pose.position), pose.matrix[:, 2], pose.matrix[:, 0]
    fork = [
        bar(bottom + s * 0.0065 * across, bottom + 0.012 * up + s * 0.0040 * across, 0.0018, 0.001, STEEL)
        for s in (1, -1)
    ]
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
    """Return a plate on a rubber sole, the roll motor upright before the ankle, the lever behind it."""
    ground = ankle - ankle[2] * Z
    (x0, y0), (x1, y1) = np.min(sole, axis=0), np.max(sole, axis=0)
    middle = ground + (x0 + x1) / 2 * X + (y0 + y1) / 2 * Y
    length, width = x1 - x0, y1 - y0
    corners = [(s * (length / 2 - 0.0105), t * (width / 2 - 0.0105)) for s in (1, -1) for t in (1, -1)]
    parts = [
        box(middle + 0.002 * Z, (length - 0.020, width, 0.004), 0.012, RUBBER),
        box(middle + 0.00215 * Z, (length, width - 0.022, 0.0043), 0.012, RUBBER),
        box(middle + 0.0065 * Z, (length - 0.020, width - 0.004, 0.005), 0.024, SHELL),
        *servo(ankle + 0.0415 * X, -X, -Z),
        bar(ground + 0.0545 * X + 0.018 * Z, ground + 0.0535 * X + 0.0455 * Z, 0.0195, 0.010, SHELL),
        bar(
            ground + 0.0715 * X - 0.017 * Y + 0.0115 * Z,
            ground + 0.0715 * X + 0.021 * Y + 0.0115 * Z,
            0.0095,
            0.008,
            ACCENT,
        ),
        box(ground - 0.029 * X + 0.012 * Z, (0.014, 0.030, 0.010), 0.008, FRAME),
        *(disc(middle + 0.0023 * Z + x * X + y * Y, Z, 0.0105, 0.0046, 0.001, RUBBER) for x, y in corners),
    ]
    for side in (1, -1):
        parts.extend(
            plate(
                ground - 0.028 * X + 0.014 * Z + side * 0.0085 * Y,
                lever + side * 0.0085 * Y,
                Y,
                0.010,
                0.0025,
                0.003,
                FRAME,
            )
        )
    return body("left_foot", Pose(tuple(ankle)), parts)
