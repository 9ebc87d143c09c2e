"""Joints that close the loops of a URDF's tree, and the type of those for which the file has frames only."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from ...budget import OutOfTimeError, current
from ...errors import AssemblyError, FormatError, MechanismError
from ...mechanism import WORLD, Coupling, Pose
from ...mechanism.pose import frame_matrix
from ...words import counted
from ..assembly.assemble import WIDENED, assemble
from ..assembly.open_joint import OpenJoint
from ..assembly.open_robot import OpenRobot
from ..imported import Imported, Notes, listed
from ..names import free_name
from .loops import Loop, Loops


def joints_of_loops(loops: tuple[Loop, ...], links: Container[str], tree: list[OpenJoint]) -> list[OpenJoint]:
    """Return the joints that hold pairs of frames together.

    Raise FormatError for a frame that is not there, or two on one link.
    """
    child = {j.name: j.child for j in tree}
    taken = set(child)
    closers = []
    for loop in loops:
        ends = []
        for frame in loop.frames:
            body = frame if frame in links or frame == WORLD else child.get(frame)
            if body is None:
                raise FormatError(f"loop {loop.name!r}: the robot has no link or joint that is called {frame!r}")
            ends.append(body)
        if ends[1] == WORLD:
            ends.reverse()
        if ends[0] == ends[1]:
            raise FormatError(f"loop {loop.name!r} ties link {ends[0]!r} to itself; name two frames on different links")
        name = free_name(loop.name, taken)
        taken.add(name)
        frame_in_both = Pose.of(frame_matrix(loop.axis, loop.axis2, f"loop {loop.name!r}"), (0, 0, 0))
        closers.append(OpenJoint(name, loop.type, ends[0], ends[1], near=frame_in_both, far=frame_in_both))
    return closers


def assembled(robot: OpenRobot, loops: tuple[Loop, ...], notes: Notes, report: Notes) -> Imported:
    """Return the robot with its loops closed; raise AssemblyError if that cannot be.

    A loop whose type is a guess gets a hinge if that closes within limits, else a ball.
    """
    guessed = {loop.name for loop in loops if loop.is_guess}
    if not guessed:
        return assemble(robot, notes, report)
    names = listed(sorted(guessed))
    balls = tuple(replace(j, type="spherical") if j.name in guessed else j for j in robot.joints)
    hinged, beyond = _attempt(robot, notes, report)
    balled, _ = _attempt(replace(robot, joints=balls), notes, report)
    if isinstance(hinged, Imported) and (isinstance(balled, AssemblyError) or not beyond):
        said = "its frames close as a hinge about their z axes, so it was read as one"
        said += f"; balls would leave the robot {_freedom(balled)}" if isinstance(balled, Imported) else ""
        return replace(hinged, report=(*hinged.report, f"{names}: {said}"))
    if isinstance(balled, AssemblyError):
        raise balled
    said = "its frames do not close as a hinge about their z axes, so it was read as a ball"
    if isinstance(hinged, Imported):
        said = (
            f"as a hinge about its frames' z axes it would close only beyond the limits of {beyond}, so it was read as"
            " a ball"
        )
        said += f"; hinges would leave the robot {_freedom(hinged)}"
    return replace(balled, warnings=(*balled.warnings, f"{names}: {said}"))


def _attempt(robot: OpenRobot, notes: Notes, report: Notes) -> tuple[Imported | AssemblyError, str]:
    """Return what an assembly gives, what it says where a loop stays open, and the joints whose limits it leaves."""
    try:
        found = assemble(robot, notes.copy(), report.copy())
    except AssemblyError as error:
        return error, ""
    beyond = [sentence.removesuffix(f": {WIDENED}") for sentence in found.warnings if sentence.endswith(WIDENED)]
    return found, ", ".join(beyond)


def _freedom(imported: Imported) -> str:
    """Return a robot's degrees of freedom and motors in words."""
    from ...kinematics.mobility import inspect  # with compiled kernels, which reading alone does not need

    try:
        with current().limited(current().describing):
            found = inspect(imported.mechanism)
    except MechanismError:
        return "no way to move"
    except OutOfTimeError:
        return "ways to move that there was no time to count"
    return f"{counted(found.mobility, 'degree')} of freedom and {counted(len(found.actuators), 'motor')}"


def stored_as_told(joints: list[OpenJoint], beside: Loops) -> list[OpenJoint]:
    """Return the joints with the side file's stored values; raise FormatError for a coordinate that is not there."""
    known = {name for joint in joints for name in joint.coordinate_names}
    if unknown := [name for name in beside.rest if name not in known]:
        raise FormatError(f"{beside.source} says where {unknown[0]!r} rests, but there is no such coordinate")
    return [
        (
            replace(joint, stored=tuple(beside.rest.get(name, 0.0) for name in joint.coordinate_names))
            if not beside.rest.keys().isdisjoint(joint.coordinate_names)
            else joint
        )
        for joint in joints
    ]


def checked(coupling: Coupling, joints: list[OpenJoint], beside: Loops) -> Coupling:
    """Return a coupling of the side file; raise FormatError if one of its coordinates is not there."""
    known = {name for joint in joints if len(joint.turns) < 3 for name in joint.coordinate_names}
    for end in coupling.ends:
        if end not in known:
            raise FormatError(
                f"{beside.source}: coupling {coupling.name!r} ties {end!r}, but there is no such coordinate"
            )
    return coupling
