"""Keys of the character in the scenes of contacts, at the scene's frame rate.

Places are the character's own, which faces −Y [m].
"""

from __future__ import annotations

from collections.abc import Callable
from math import radians

import bpy
import numpy as np
from bpy.types import Object
from mathutils import Quaternion, Vector

from tools.installed import add_on

RATE = 30  # frames a second
SEAT = (0.40, 0.42)  # of the stool: height of its top, and how far behind the character it is
TABLE = (0.86, 0.34)  # likewise of the table, before it
RISE, TREAD, STEPS = 0.12, 0.30, 4

Keys = Callable[[Object], int]


def _walk():
    return add_on("scene.character.walking.walk")


def sit(rig: Object) -> int:
    """Key sitting down on a stool, staying and getting up; return the last frame."""
    for side in "LR":  # bent so far, a knee could bend either way
        shin = rig.pose.bones[f"shin.{side}"]
        shin.use_ik_limit_x, shin.ik_min_x, shin.ik_max_x = True, 0.0, radians(150)
    frames = np.arange(1, 8 * RATE + 1)
    t = (frames - 1) / RATE
    smooth = _walk().smoothstep
    down = smooth((t - 1.0) / 2.0) - smooth((t - 5.0) / 2.0)
    lean = radians(38) * (
        smooth((t - 0.8) / 1.2) - smooth((t - 2.3) / 1.2) + smooth((t - 4.3) / 1.2) - smooth((t - 5.9) / 1.2)
    )
    rise = 0.91 - SEAT[0] - 0.11  # the hips' bone is above the seat by what is sat on
    for k, frame in enumerate(frames.tolist()):
        _body(rig, frame, Vector((0, SEAT[1] * down[k], -rise * down[k])), pitch=lean[k])
        _feet(rig, frame)
    return int(frames[-1])


def lean(rig: Object) -> int:
    """Key a lean on a table: hands go to its top, weight follows, and back; return the last frame."""
    frames = np.arange(1, 7 * RATE + 1)
    t = (frames - 1) / RATE
    smooth = _walk().smoothstep
    reach = smooth((t - 0.7) / 1.3) - smooth((t - 4.7) / 1.3)
    weight = smooth((t - 1.6) / 1.2) - smooth((t - 4.2) / 1.2)
    hands = _reaching(rig)
    for k, frame in enumerate(frames.tolist()):
        _body(rig, frame, Vector((0, -0.05 * weight[k], -0.03 * weight[k])), pitch=radians(26) * reach[k])
        _feet(rig, frame)
        for side, (hand, rest) in hands.items():
            out = 1.0 if side == "L" else -1.0
            goal = Vector((out * 0.24, -TABLE[1] - 0.10, TABLE[0] + 0.05))
            via = Vector((0.0, 0.0, 0.10 * reach[k] * (1.0 - reach[k]) * 4.0))
            hand.location = rest.lerp(goal, reach[k]) + via
            hand.keyframe_insert("location", frame=frame)
    return int(frames[-1])


def steps(rig: Object) -> int:
    """Key a walk up some steps, a foot on each; return the last frame."""
    walk = _walk()
    stand, swing, double = 1.0, 0.8, 0.45
    count = STEPS + 1  # the last one brings the other foot beside
    frames = np.arange(1, round((2 * stand + count * (swing + double)) * RATE) + 1)
    t = (frames - 1) / RATE
    ways = {}
    for index, side in enumerate("LR"):
        forward, up, lift = np.zeros((3, len(t)))
        for step in range(index, count, 2):
            u = (t - stand - step * (swing + double)) / swing
            far = 1.0 if step in (0, count - 1) else 2.0
            forward += far * TREAD * walk.smoothstep((u - 0.2) / 0.75)
            up += far * RISE * walk.smoothstep(u / 0.6)
            lift += 0.07 * walk.bump(u, 0.5)
        ways[side] = forward, up + lift
    middle = walk.smoothed(0.5 * (ways["L"][0] + ways["R"][0]), t, 0.25)
    high = walk.smoothed(np.minimum(ways["L"][1], ways["R"][1]), t, 0.2)
    for k, frame in enumerate(frames.tolist()):
        _body(rig, frame, Vector((0, -middle[k], high[k] - 0.05 * walk.bump(t[k] / t[-1], 0.5))), pitch=radians(6))
        for side, (forward, up) in ways.items():
            control = rig.pose.bones[f"foot_control.{side}"]
            walk.key(control, frame, Quaternion(), Vector((0, -forward[k], up[k])))
    return int(frames[-1])


def platform(rig: Object) -> int:
    """Key standing with slow swings of the arms, while what is stood on moves; return the last frame."""
    frames = np.arange(1, 6 * RATE + 1)
    t = (frames - 1) / RATE
    for k, frame in enumerate(frames.tolist()):
        swing = radians(25) * np.sin(2 * np.pi * t[k] / 3.0) * _walk().smoothstep(t[k])
        _body(rig, frame, Vector((0.02 * np.sin(2 * np.pi * t[k] / 3.0), 0, -0.04)), arms=float(swing))
        _feet(rig, frame)
    return int(frames[-1])


SCENES: dict[str, Keys] = {"sit": sit, "lean": lean, "steps": steps, "platform": platform}


def _body(rig: Object, frame: int, place: Vector, pitch: float = 0.0, arms: float = 0.0) -> None:
    """Key hips at a place, the trunk pitched forward, the arms swung by an angle [rad]."""
    walk, bones = _walk(), rig.pose.bones
    walk.key(bones["hips"], frame, walk.turned(x=0.4 * pitch), place)
    walk.key(bones["spine"], frame, walk.turned(x=0.35 * pitch))
    walk.key(bones["chest"], frame, walk.turned(x=0.25 * pitch))
    walk.key(bones["neck"], frame, walk.turned(x=-0.4 * pitch))
    for side, out in (("L", 1.0), ("R", -1.0)):
        walk.key(bones[f"upper_arm.{side}"], frame, walk.turned(x=-0.5 * pitch + out * arms, y=-out * radians(5)))
        walk.key(bones[f"forearm.{side}"], frame, walk.turned(x=-radians(14) - 0.5 * abs(pitch)))


def _feet(rig: Object, frame: int) -> None:
    """Key the feet where they stand in the rest pose."""
    for side in "LR":
        _walk().key(rig.pose.bones[f"foot_control.{side}"], frame, Quaternion(), Vector())


def _reaching(rig: Object) -> dict[str, tuple[Object, Vector]]:
    """Let the arms reach for empties; return these with the place where the hands hang."""
    made = {}
    for side in "LR":
        forearm = rig.pose.bones[f"forearm.{side}"]
        hand = bpy.data.objects.new(f"Hand.{side}", None)
        bpy.context.scene.collection.objects.link(hand)
        hand.parent = rig
        reach = forearm.constraints.new("IK")
        reach.target, reach.chain_count, reach.iterations = hand, 2, 200
        made[side] = hand, Vector(forearm.bone.tail_local) + Vector((0.0, -0.03, 0.02))
    return made
