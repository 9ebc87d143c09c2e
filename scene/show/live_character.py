"""Live character: the pose of the scene's rig comes by VMC, from `begin` to `end`.

It poses bones and nothing else: a robot goes along by *Follow Live*, servos by *Live*, each as the user has it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from bpy.app.handlers import persistent
from bpy.types import Bone, Object, Scene
from mathutils import Matrix, Quaternion, Vector
from scipy.spatial.transform import Rotation

from ...robik.errors import RobikError
from ...robik.show.osc import Listener, Message
from ...robik.show.vmc import Body
from ...robik.skeleton.anatomy import named_parts
from ..robot.parts import chosen_robot
from .body_recording import BodyRecording

BEAT = 1 / 60  # [s] between turns
ROUNDS = 16  # looks at the port a turn, each of many packets: a tracker sends some sixty bones at a time
LOW = 0.2  # [m]: hips below it were not measured, as by a tracker of the upper body
Turns = dict[str, Quaternion]


@dataclass(eq=False)
class _Listening:
    """A rig that is posed by messages."""

    rig: str
    scene: str
    listener: Listener
    bones: dict[tuple[str, str], str]  # by part and side
    body: Body = field(default_factory=Body)
    first: np.ndarray | None = None  # where the hips were at first [m]
    recording: BodyRecording | None = None


_listening: _Listening | None = None
_taken: BodyRecording | None = None  # what was recorded, until it is keyed
_why = ""


def is_listening() -> bool:
    """Return whether a rig is posed by messages."""
    return _listening is not None


def address() -> str:
    """Return where messages are heard; empty where none are."""
    return "" if _listening is None else _listening.listener.address


def has_heard() -> bool:
    """Return whether a body has moved the rig since the begin."""
    return _listening is not None and _listening.first is not None


def records() -> bool:
    """Return whether what is heard is recorded."""
    return _listening is not None and _listening.recording is not None


def why() -> str:
    """Return why it ended by itself, in words; empty where it did not."""
    return _why


def begin(scene: Scene, keeps: bool = False) -> None:
    """Let messages pose the rig of the robot's character from now on.

    With `keeps` the poses are recorded, to be keyed from the current frame on. Raise RobikError if there is no rig
    that has the bones of a body, or the port cannot be heard.
    """
    global _listening, _taken, _why
    root = chosen_robot(scene)
    rig: Object | None = root.robik.robot.character.rig
    if rig is None or rig.type != "ARMATURE":
        raise RobikError("a live character needs a rig: choose an armature as Rig, in Character")
    bones = {part: name for part, name in named_parts(rig.data.bones.keys()).items() if name}
    if ("hips", "") not in bones:
        raise RobikError(f"no bone of {rig.name!r} is named as hips; a live character needs names as of VRM or Mixamo")
    end()
    port = root.robik.robot.performance.vmc_port.strip()
    posed = [bones["hips", ""], *(name for part, name in bones.items() if part != ("hips", ""))]
    recording = BodyRecording(scene, rig, posed) if keeps else None
    _listening = _Listening(rig.name, scene.name, Listener(port), bones, recording=recording)
    _taken, _why = None, ""


def end(reason: str = "", keeps: bool = True) -> None:
    """Hear nothing any more; the rig stays as it is.

    `reason` says why it ends by itself; with `keeps` the recording waits for `keep_recording`.
    """
    global _listening, _taken, _why
    _taken = _taken if keeps else None
    if _listening is None:
        return
    before, _listening, _why = _listening, None, reason
    before.listener.close()
    _taken = before.recording if keeps else None


def keep_recording(scene: Scene) -> int:
    """Key the recording on the rig, from the frame on where it began, and return how many frames; only once.

    0 where nothing was recorded. Raise RobikError if the rig is gone; `why` says so, too.
    """
    global _taken, _why
    recording, _taken = _taken, None
    if recording is None:
        return 0
    rig: Object | None = scene.objects.get(recording.rig)
    if rig is None:
        _why = f"the recording is lost: {recording.rig} is no longer in the scene"
        raise RobikError(_why)
    return recording.key(scene, rig)


def tick(scene: Scene) -> None:
    """Do one turn of Blender's main loop: take in what has come, and pose the rig."""
    one = _listening
    if one is None:
        return
    rig: Object | None = scene.objects.get(one.rig) if scene.name == one.scene else None
    if rig is None:
        end("its rig is no longer in the scene")
        return
    for _ in range(ROUNDS):
        messages = one.listener.messages()
        for message in messages:
            if isinstance(message, Message):
                one.body.take(message)
        if not messages:
            break
    if one.body.is_new:
        _pose(one, rig)


def _pose(one: _Listening, rig: Object) -> None:
    """Pose the bones that are parts of the body; the others go along with their parents."""
    parts = one.body.parts()
    upright = _upright(rig)
    turned: Turns = {name: _in(parts[part], upright) for part, name in one.bones.items() if part in parts}
    for name, turn in turned.items():
        bone, posed = rig.data.bones[name], rig.pose.bones[name]
        rest = bone.matrix_local.to_quaternion()
        basis = rest.inverted() @ _above(bone, turned).inverted() @ turn @ rest
        place = posed.location
        if name == one.bones["hips", ""] and one.body.hips is not None:
            place = rest.inverted() @ _moved(one, bone, upright)
        posed.matrix_basis = Matrix.LocRotScale(place, basis, posed.scale)
    one.first = one.body.hips if one.first is None and one.body.hips is not None else one.first
    if one.recording is not None:
        one.recording.take(rig)
    rig.update_tag()


def _upright(rig: Object) -> Quaternion:
    """Return how the rig's data is tilted in the world, without its turn about the vertical: many are kept y up."""
    whole = rig.matrix_world.to_quaternion()
    turn = Quaternion((whole.w, 0.0, 0.0, whole.z))
    return whole if turn.magnitude < 1e-6 else turn.normalized().inverted() @ whole


def _in(turn: Rotation, upright: Quaternion) -> Quaternion:
    """Return a turn of the body in the coordinates of the rig's data."""
    x, y, z, w = turn.as_quat()
    return upright.inverted() @ Quaternion((w, x, y, z)) @ upright


def _above(bone: Bone, turned: Turns) -> Quaternion:
    """Return the turn of the nearest bone above that has one of its own."""
    above = bone.parent
    while above is not None and above.name not in turned:
        above = above.parent
    return Quaternion() if above is None else turned[above.name]


def _moved(one: _Listening, bone: Bone, upright: Quaternion) -> Vector:
    """Return how far the hips are from the rest pose, in the rig's data; the first message is of the rest pose.

    Bodies of other heights walk as far as the rig's legs are long.
    """
    assert one.body.hips is not None
    first = one.body.hips if one.first is None else one.first
    height = bone.head_local.dot(upright.inverted() @ Vector((0.0, 0.0, 1.0)))
    ratio = height / float(first[2]) if first[2] > LOW and height > 0 else 1.0
    return upright.inverted() @ Vector((ratio * (one.body.hips - first)).tolist())


@persistent
def after_undo(_scene: object = None, _graph: object = None) -> None:
    """End: what was undone may be anything."""
    end("something was undone")
