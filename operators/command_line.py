"""`blender --background FILE --command robik bake …`, `… batch …`, `… import …`: RobIK without a window."""

import argparse
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import NoReturn

import bpy
from bpy.types import Object

from ..robik.errors import RobikError
from ..robik.formats import READERS
from ..robik.motions import Motion, save_motion, save_report
from ..robik.steps import finish
from ..scene.bake.baking import bake_steps
from ..scene.bake.result import status
from ..scene.importing.options import BASES
from ..scene.importing.robot_file import import_steps
from ..scene.migration import bring_up_to_date
from ..scene.robot.inventory import inventory
from ..scene.robot.parts import chosen_robot, robots
from .bake.batch import add_batch, batch

COMMAND = "robik"


class _Parser(argparse.ArgumentParser):
    """Its complaints are errors like any other: one line."""

    def error(self, message: str) -> NoReturn:
        raise RobikError(f"{message}; see: blender --command {COMMAND} --help")


def run(argv: list[str]) -> int:
    """Run the command in the arguments after `--command robik`, and return its exit code.

    It is 2, with one line on stderr, where the user has to change something.
    """
    try:
        arguments = _parser().parse_args(argv)
        _check_opened(sys.argv)
        with _window():
            return {"bake": _bake, "batch": _batch, "import": _import}[arguments.command](arguments)
    except RobikError as error:
        print(error, file=sys.stderr)
        return 2
    except SystemExit as done:  # --help
        return int(done.code or 0)


def _check_opened(argv: Sequence[str]) -> None:
    """Blender goes on with an empty scene where the file it was started with cannot be opened; a command must not."""
    own = next((k for k, word in enumerate(argv) if word in ("-c", "--command")), 0)
    asked = [word for word in argv[1:own] if word.lower().endswith(".blend")]
    if asked and not bpy.data.filepath:
        raise RobikError(f"{asked[-1]} cannot be opened; is the path right?")


def _window() -> AbstractContextManager[object]:
    """With a file opened, Blender runs commands beside its window, and importers of meshes want to be in one."""
    windows = bpy.context.window_manager.windows
    if bpy.context.window is None and windows:
        return bpy.context.temp_override(window=windows[0])
    return nullcontext()


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog=f"blender --background FILE.blend --command {COMMAND}", description="RobIK without a window")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    about = "make the robot of the opened file follow its character, as its panels are set"
    bake = commands.add_parser("bake", help=about, description=about)
    bake.add_argument("--robot", metavar="NAME", help="the robot's root object, where there are several")
    bake.add_argument("--start", type=int, metavar="FRAME", help="first frame (default: as the file has it)")
    bake.add_argument("--end", type=int, metavar="FRAME", help="last frame (default: as the file has it)")
    bake.add_argument("--samples", type=int, metavar="N", help="samples per frame (default: as the file has it)")
    bake.add_argument("--output", type=Path, metavar="FILE.blend", help="where to save the scene with the robot's keys")
    bake.add_argument("--csv", type=Path, metavar="MOTION.csv", help="where to write the motors' values")
    bake.add_argument("--report", type=Path, metavar="REPORT.json", help="where to write errors, residuals and speeds")
    add_batch(commands)
    about = "bring a robot from its file into the opened file, and save that; prints what the import found"
    robot = commands.add_parser("import", help=about, description=about)
    robot.add_argument(
        "file", metavar="ROBOT", type=Path, help=f"the robot's file: {', '.join('*' + e for e in READERS)}"
    )
    robot.add_argument(
        "--output", type=Path, metavar="FILE.blend", required=True, help="where to save the scene with the robot"
    )
    bases = [base for base, _, _ in BASES]
    robot.add_argument(
        "--base", choices=bases, default="auto", help="whether it stands fixed or floats; auto: as its file says"
    )
    robot.add_argument(
        "--packages", default="", metavar="FOLDERS", help="folders of ROS packages, with a semicolon between"
    )
    robot.add_argument(
        "--arguments", default="", metavar="NAME:=VALUE", help="of a xacro file, in quotes, with spaces between"
    )
    return parser


def _import(arguments: argparse.Namespace) -> int:
    _check_folder(arguments.output)
    root = finish(
        import_steps(
            bpy.context, str(arguments.file.absolute()), arguments.base, arguments.packages, arguments.arguments
        )
    )
    _save(arguments.output)
    told = root.robik.robot
    print(f"{root.robik.label}: {inventory(root)}")
    for sentence in told.report.splitlines():
        print(f"  {sentence}")
    for sentence in told.warnings.splitlines():
        print(f"  warning: {sentence}")
    return 0


def _bake(arguments: argparse.Namespace) -> int:
    if not (arguments.output or arguments.csv or arguments.report):
        raise RobikError(
            "nothing would be kept of this bake; give --output FILE.blend, --csv MOTION.csv or --report REPORT.json"
        )
    for path in filter(None, (arguments.output, arguments.csv, arguments.report)):
        _check_folder(path)
    root = _robot(arguments.robot)
    _set_range(root, arguments)
    bring_up_to_date(root)
    motion = finish(bake_steps(bpy.context, root))
    _write(motion, arguments)
    print(f"{root.name}: {status(root.robik.robot.result)}")
    return 0


def _batch(arguments: argparse.Namespace) -> int:
    if arguments.output:
        _check_folder(arguments.output)
    return batch(arguments, _robot(arguments.robot), _save)


def _robot(name: str | None) -> Object:
    scene = bpy.context.scene
    if name is None:
        return chosen_robot(scene)
    named = {root.name: root for root in robots(scene)}
    if name not in named:
        raise RobikError(f"there is no robot {name!r} in this file; there are {', '.join(named) or 'none'}")
    return named[name]


def _set_range(root: Object, arguments: argparse.Namespace) -> None:
    bake, scene = root.robik.robot.bake, bpy.context.scene
    if arguments.samples is not None:
        if not 1 <= arguments.samples <= 100:
            raise RobikError(f"--samples must be 1 to 100, not {arguments.samples}")
        bake.samples = arguments.samples
    if arguments.start is not None or arguments.end is not None:
        if not bake.use_range:
            bake.start, bake.end, bake.use_range = scene.frame_start, scene.frame_end, True
        bake.start = bake.start if arguments.start is None else arguments.start
        bake.end = bake.end if arguments.end is None else arguments.end


def _write(motion: Motion, arguments: argparse.Namespace) -> None:
    if arguments.csv:
        save_motion(motion, arguments.csv, "csv")
    if arguments.report:
        save_report(motion, arguments.report)
    if arguments.output:
        _save(arguments.output)


def _check_folder(path: Path) -> None:
    if not path.absolute().parent.is_dir():
        raise RobikError(f"{path}: there is no folder {path.absolute().parent}")
    if path.is_dir():
        raise RobikError(f"{path} is a folder; name a file in it")


def _save(path: Path) -> None:
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(path.absolute()), copy=True)
    except RuntimeError as error:
        raise RobikError(f"{path} cannot be written: {' '.join(str(error).split())}") from None
