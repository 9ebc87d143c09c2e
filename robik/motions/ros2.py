"""ROS 2 motion files: a `trajectory_msgs/JointTrajectory` in YAML, as `ros2 topic pub` takes it.

With a base it is a `moveit_msgs/RobotTrajectory`: that trajectory, and the base's path in the world as a
`trajectory_msgs/MultiDOFJointTrajectory`.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ClipError
from ..extras import extra
from .curves import rates_of
from .format import Companions, MotionFormat
from .layout import motion_by_names
from .motion import BaseTrack, Motion, Rates

LONGEST = 2**31 - 1  # [s] that a duration of ROS 2 can say
JOINTS, BASE = "joint_trajectory", "multi_dof_joint_trajectory"
HEAD = 4096  # bytes in which the joints' names must begin
DEEPEST = 20  # lists and mappings in one another
NOTHING = ("", "~", "null")
UNUSED = ("velocities", "accelerations", "effort")  # of a point


def write(motion: Motion, path: Path, companions: Companions) -> bytes:
    """Return a motion as YAML; times count from the first frame, velocities are those of the curves.

    Raise ClipError for a motion that is longer than the format can say.
    """
    if (seconds := motion.times[-1] - motion.times[0]) > LONGEST:
        raise ClipError(f"a ROS 2 trajectory counts seconds up to {LONGEST:,}, the motion takes {seconds:.4g} s")
    times, rates = [_duration(time) for time in (motion.times - motion.times[0]).tolist()], rates_of(motion)
    lines = ["header: {stamp: {sec: 0, nanosec: 0}, frame_id: ''}", "joint_names:"]
    lines += [f"- {json.dumps(name)}" for name in motion.actuators]
    lines.append("points:")
    for time, values, speeds in zip(times, motion.values.tolist(), rates.values.tolist(), strict=True):
        lines.append(f"- positions: [{', '.join(map(repr, values))}]")
        lines.append(f"  velocities: [{', '.join(map(repr, speeds))}]")
        lines.append(f"  time_from_start: {time}")
    if motion.base is not None:
        lines = [f"{JOINTS}:", *(f"  {line}" for line in lines)]
        lines += [f"{BASE}:", *(f"  {line}" for line in _path(motion.base, rates, times))]
    return ("\n".join(lines) + "\n").encode()


def _path(base: BaseTrack, rates: Rates, times: list[str]) -> list[str]:
    """Return the lines of a MultiDOFJointTrajectory of a base, in the world."""
    lines = ["header: {stamp: {sec: 0, nanosec: 0}, frame_id: 'world'}", "joint_names:", f"- {json.dumps(base.body)}"]
    lines.append("points:")
    assert rates.linear is not None and rates.angular is not None  # as it has a base
    tables = (base.position, base.quaternion[:, [1, 2, 3, 0]], rates.linear, rates.angular)
    for time, *rows in zip(times, *(table.tolist() for table in tables), strict=True):
        place, turn, linear, angular = (
            f"{{{', '.join(f'{axis}: {value!r}' for axis, value in zip('xyzw', row, strict=False))}}}" for row in rows
        )
        lines.append(f"- transforms: [{{translation: {place}, rotation: {turn}}}]")
        lines.append(f"  velocities: [{{linear: {linear}, angular: {angular}}}]")
        lines.append(f"  time_from_start: {time}")
    return lines


def _duration(time: float) -> str:
    nanoseconds = round(time * 1e9)
    return f"{{sec: {nanoseconds // 10**9}, nanosec: {nanoseconds % 10**9}}}"


def matches(content: bytes) -> bool:
    """Return True if it names joints and lists points."""
    return b"joint_names:" in content[:HEAD] and b"points:" in content


def read(content: bytes, companions: Companions) -> Motion:
    """Return the motion in a trajectory's positions; its times count from the first frame."""
    data = _plain(content)
    joints = data.get(JOINTS, data) if isinstance(data, dict) else data
    names, times, values = _rows(joints, lambda point, names: [float(value) for value in point["positions"]])
    base = None
    if isinstance(data, dict) and data.get(BASE):
        bodies, moments, poses = _rows(data[BASE], _pose)
        if not np.array_equal(moments, times):
            raise ClipError(f"{BASE} and {JOINTS} have points at different times")
        base = bodies[0], poses[:, :3], poses[:, 3:]
    return motion_by_names(companions.robot, names, times, base, values)


def _plain(content: bytes) -> Any:
    """Return lists, mappings and texts of YAML, by its events: its nodes would take 50 times the file."""
    with extra("formats"):
        import yaml
    stack: list[list[Any]] = [[]]
    try:
        for event in yaml.parse(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.CollectionStartEvent):
                stack.append([])
                if len(stack) > DEEPEST:
                    raise ClipError("its lists and mappings are nested too deeply for a trajectory")
            elif isinstance(event, yaml.SequenceEndEvent):
                stack[-2].append(stack.pop())
            elif isinstance(event, yaml.MappingEndEvent):
                stack[-2].append(_mapping(stack.pop()))
            elif isinstance(event, yaml.ScalarEvent):
                stack[-1].append(None if event.implicit[0] and event.value in NOTHING else event.value)
            elif isinstance(event, yaml.AliasEvent):
                raise ClipError(f"it has an alias (*{event.anchor}), which no trajectory needs; write out what it is")
    except (yaml.YAMLError, ValueError) as error:
        raise ClipError(f"not YAML: {' '.join(str(error).split())}") from None
    if len(stack[0]) > 1:
        raise ClipError(f"it holds {len(stack[0])} documents; a motion is one: delete what is from the second --- on")
    return stack[0][0] if stack[0] else None


def _mapping(items: list[Any]) -> dict[str, Any]:
    """Return a mapping from names and values in turn; of a point the positions as numbers, and not its velocities."""
    found = {str(name): value for name, value in zip(items[::2], items[1::2], strict=True) if name not in UNUSED}
    if isinstance(positions := found.get("positions"), list):
        with suppress(TypeError, ValueError):  # told with the number of the point
            found["positions"] = array("d", map(float, positions))
    return found


def _rows(
    data: Any, row_of: Callable[[Any, tuple[str, ...]], list[float]]
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Return names, times (T,) [s] and numbers (T, columns) of a trajectory. Raises ClipError."""
    names, points = (data.get(key) for key in ("joint_names", "points")) if isinstance(data, dict) else (None, None)
    if not isinstance(names, list) or not isinstance(points, list) or not points:
        raise ClipError("a trajectory of ROS 2 has joint_names and points")
    names, times, rows = tuple(map(str, names)), [], []
    for k, point in enumerate(points):
        try:
            since = point["time_from_start"]
            seconds, nanoseconds = (int(float(since.get(part, 0))) for part in ("sec", "nanosec"))
            times.append((10**9 * seconds + nanoseconds) / 1e9)
            rows.append(row_of(point, names))
            if len(rows[-1]) != (7 if row_of is _pose else len(names)):
                raise ValueError
        except (TypeError, KeyError, ValueError, AttributeError, IndexError, OverflowError):
            wanted = "a transform" if row_of is _pose else f"{len(names)} positions"
            raise ClipError(f"point {k}: it needs {wanted} and time_from_start {{sec, nanosec}}") from None
    return names, np.array(times), np.array(rows).reshape(len(rows), -1)


def _pose(point: Any, _names: tuple[str, ...]) -> list[float]:
    """Return position and quaternion wxyz of a point's first transform."""
    place, turn = (point["transforms"][0][part] for part in ("translation", "rotation"))
    return [*(float(place[axis]) for axis in "xyz"), *(float(turn[axis]) for axis in "wxyz")]


FORMAT = MotionFormat(
    name="ros2", label="ROS 2 JointTrajectory", extensions=(".yaml",), matches=matches, read=read, write=write
)
