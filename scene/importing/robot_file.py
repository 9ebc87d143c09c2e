"""Importing a robot, and reading its file again: steps that a window stays alive between.

Stopped early, they leave nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from pathlib import Path
from threading import Event

import bpy
from bpy.types import Context, Object, Scene

from ...robik.budget import Budget, within
from ...robik.errors import AssemblyError, RobikError
from ...robik.formats import Imported, import_robot
from ...robik.formats.assembly.open_pose import OpenPose
from ...robik.formats.options import package_folders, packages_nearby, xacro_arguments
from ..bake import bakes
from ..long_work.steps import Progress, in_thread, starting
from ..overlay.views import draw_open_pose
from ..robot.builder import Builder
from ..robot.parts import parts, show_joints
from .arrival import arrive
from .reimport import BY_HAND, Before


def import_steps(
    context: Context, path: str, base: str = "auto", packages: str = "", arguments: str = ""
) -> Generator[Progress, None, Object]:
    """Build the robot of a file into the scene and choose it, yielding progress, and return its root.

    The options are kept for the next one. After a RobikError the scene is as it was.
    """
    scene, folders = context.scene, package_folders(packages, bpy.path.abspath)
    imported = yield from _read(scene, path, folders, base, xacro_arguments(arguments))
    builder = Builder(imported.mechanism, path, folders)
    root = yield from builder.build_steps(scene.collection)
    scene.robik.robot = root
    for options in (scene.robik.importing, root.robik.robot.importing):
        options.base, options.packages = base, packages
    root.robik.robot.importing.arguments = arguments
    _tell(root, imported.report, (*imported.warnings, *builder.warnings))
    show_joints(root, False)
    arrive(context, root)
    return root


def folders_nearby(root: Object) -> str:
    """Return the packages near a robot's file that the file names, as a user would write them.

    Those that were read, and those beside it that were not; empty where there are none.
    """
    options, source = root.robik.robot.importing, bpy.path.abspath(root.robik.robot.source)
    known = package_folders(options.packages, bpy.path.abspath)
    found = packages_nearby(Path(source), known) if source else ()
    return ";".join(map(str, (*known, *found))) if found else ""


def reload_steps(context: Context, root: Object, packages: str = "") -> Generator[Progress, None, Object]:
    """Read a robot's file again and change the robot to it; what no longer matches is among its warnings.

    `packages` are the folders to be read from now on, as a user writes them; as before where empty. After a
    RobikError the scene is as it was.
    """
    options, source = root.robik.robot.importing, bpy.path.abspath(root.robik.robot.source)
    if not source:
        raise RobikError(f"robot {root.name!r} was not imported from a file, so there is nothing to read again")
    folders = package_folders(packages or options.packages, bpy.path.abspath)
    imported = yield from _read(context.scene, source, folders, options.base, xacro_arguments(options.arguments))
    before = Before(context.scene, root)
    imported, by_hand = before.with_hand_built(imported)
    builder = Builder(imported.mechanism, source, folders, {name for kind, name in by_hand if kind == "BODY"})
    options.packages = packages or options.packages
    hidden = all(joint.hide_get() for joint in parts(root)["JOINT"])
    bake = bakes.in_use(root)
    yield from builder.rebuild_steps(root)
    if bake >= 0:
        bakes.use(root, bake)  # also for the bodies that are new
    for part in (part for kind in BY_HAND for part in parts(root)[kind]):
        part.robik.by_hand = (part.robik.kind, part.robik.label) in by_hand
    show_joints(root, not hidden)
    changed, lost = before.compared(imported.mechanism)
    _tell(root, (*imported.report, *changed), (*lost, *imported.warnings, *builder.warnings))
    return root


def _read(
    scene: Scene, path: str, packages: Iterable[Path], base: str, arguments: Mapping[str, str]
) -> Generator[Progress, None, Imported]:
    """Read on a thread of its own, which stops soon where nobody waits for it any more: a window stays alive.

    Where the loops do not close, or somebody stopped the search, the best pose so far is drawn.
    """
    unwanted, told, poses = Event(), [f"Reading {Path(path).name}"], list[OpenPose]()

    def reading() -> Iterator[Imported]:
        with within(Budget(is_unwanted=unwanted.is_set, tell=told.append, offer=poses.append)):
            yield import_robot(path, packages, base, arguments)

    found: list[Imported | None] = [None]
    draw_open_pose(scene, None)
    try:
        for found[0] in in_thread(reading()):
            yield starting(told[-1])
    except (AssemblyError, GeneratorExit):
        draw_open_pose(scene, poses[-1] if poses else None)
        raise
    finally:
        unwanted.set()
    assert found[0] is not None
    return found[0]


def _tell(root: Object, report: Iterable[str], warnings: Iterable[str]) -> None:
    """Keep with the robot what there is to say of its file."""
    root.robik.robot.report, root.robik.robot.warnings = "\n".join(report), "\n".join(warnings)
