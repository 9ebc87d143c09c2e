"""`blender --background FILE --command robik batch …`: all actions of a character, in one or several Blenders."""

from __future__ import annotations

import argparse
import glob
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from time import sleep
from typing import Any

import bpy
from bpy.types import Object

from ...robik.batch.job import Item, Plan, done_row, figures_of, keep, output_file
from ...robik.batch.progress import told_on_stderr
from ...robik.batch.run import shard_of
from ...robik.batch.table import save_tables
from ...robik.errors import RobikError
from ...robik.motions import Companions, save_motion
from ...robik.motions.registry import format_to_write
from ...robik.steps import finish
from ...scene.bake.all_actions import Baked, Take, all_steps, performer, takes_of
from ...scene.migration import bring_up_to_date
from ...scene.robot.reading import read_robot

ENDED = "the Blender that baked it ended"
LOOK = 0.5  # s between two looks at what other Blenders have done

Items = dict[str, tuple[Take, Item]]  # by the take's name
Rows = dict[str, dict[str, Any]]  # likewise
Tell = Callable[[dict[str, Any], int, int], None]


def add_batch(commands: Any) -> None:
    """Add the command to a parser's."""
    about = "bake every action of the character, each with its length; goes on where an earlier run stopped"
    parser = commands.add_parser("batch", help=about, description=about)
    parser.add_argument("--robot", metavar="NAME", help="the robot's root object, where there are several")
    parser.add_argument("--strips", action="store_true", help="the strips of the character's NLA instead of actions")
    parser.add_argument("--only", metavar="PATTERN", default="", help="only those whose names fit, such as 'walk*'")
    parser.add_argument("--folder", type=Path, metavar="OUT", help="where to write a motion of each, and a table")
    parser.add_argument("--format", metavar="NAME", default="csv", help="of the motions (default csv)")
    parser.add_argument("--rate", type=float, metavar="HZ", help="samples per second; the scene's if left out")
    parser.add_argument("--order", choices=("depth", "breadth"), default="depth", help="of bodies and joints")
    parser.add_argument("--header", action="store_true", help="a row of names above the numbers of lafan1-csv")
    parser.add_argument("--output", type=Path, metavar="FILE.blend", help="where to save the scene with all bakes")
    parser.add_argument("--workers", type=int, metavar="N", default=1, help="Blenders that write to OUT (default 1)")
    parser.add_argument("--shard", metavar="K/N", default="1/1", help="only the K-th of N parts, for several machines")
    parser.add_argument(
        "--errors-in-table", action="store_true", help="end with 0 also where one cannot be baked: the table tells"
    )


def batch(arguments: argparse.Namespace, root: Object, save: Callable[[Path], None]) -> int:
    """Bake all actions, write their motions and a table, and return 0, or 1 where one could not be baked.

    `save` writes the scene. Raise RobikError if there is nothing to bake, or nothing would be kept.
    """
    part = _checked(arguments)
    bring_up_to_date(root)
    plan = _plan(arguments, root)
    items = _items(takes_of(performer(root), arguments.strips, arguments.only), part)
    rows: Rows = {} if arguments.output else _done(plan, items)
    tell = told_on_stderr()

    def each(baked: Baked) -> None:
        rows[baked.name] = _row(plan, items[baked.name][1], baked, root)
        tell(rows[baked.name], len(rows), len(items))

    def bake(names: Iterable[str]) -> None:
        finish(all_steps(bpy.context, root, [items[name][0] for name in names], each))

    left = [name for name in items if name not in rows]
    if arguments.workers > 1 and left:
        bake(left[:1])  # what is compiled is so for all
        _in_blenders(arguments, plan, items, rows, tell)
    bake([name for name in items if name not in rows])
    if arguments.output:
        save(arguments.output)
    return _told(arguments, [rows[name] for name in items], part)


def _checked(arguments: argparse.Namespace) -> tuple[int, int]:
    """Return the part that is asked for. Raises RobikError for what does not go together."""
    if not (arguments.output or arguments.folder):
        raise RobikError("nothing would be kept of these bakes; give --folder OUT or --output FILE.blend")
    if arguments.workers < 1:
        raise RobikError(f"--workers must be 1 or more, not {arguments.workers}")
    part = shard_of(arguments.shard)
    if arguments.workers > 1 and (arguments.output or not arguments.folder or part != (1, 1)):
        raise RobikError("--workers is for --folder OUT alone: each of them writes files, and one scene has one writer")
    return part


def _plan(arguments: argparse.Namespace, root: Object) -> Plan:
    """Return what is done with each take, and make the folder."""
    chosen = format_to_write("motion", arguments.format)
    folder = "" if arguments.folder is None else str(arguments.folder.absolute())
    if folder:
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RobikError(f"{folder} cannot be made: {error.strerror or error}") from None
    return Plan(
        robot=f"{root.name}, {'strips' if arguments.strips else 'actions'}",
        output=folder,
        format=chosen.name,
        extension=chosen.extensions[0],
        rate=arguments.rate,
        order=arguments.order,
        header=arguments.header,
    )


def _items(takes: list[Take], part: tuple[int, int]) -> Items:
    """Return takes of a part, by name, each with its place in the folder."""
    names = [bpy.path.clean_name(take.name) for take in takes]
    unique = [n if names.count(n) == 1 else f"{n}-{k + 1}" for k, n in enumerate(names)]
    found = {t.name: (t, Item(bpy.data.filepath, name)) for t, name in zip(takes, unique, strict=True)}
    return dict(list(found.items())[part[0] - 1 :: part[1]])


def _done(plan: Plan, items: Items) -> Rows:
    """Return the rows of what is done already."""
    return {name: row for name, (_, item) in items.items() if (row := done_row(plan, item)) is not None}


def _row(plan: Plan, item: Item, baked: Baked, root: Object) -> dict[str, Any]:
    """Write the motion of a take, and return its row."""
    row: dict[str, Any] = {"file": item.name, "error": ""}
    if baked.motion is None:
        row["error"] = baked.told
    else:
        row |= figures_of(baked.motion)
    if not plan.output:
        return row
    if baked.motion is not None:
        beside = Companions(robot=read_robot(root), order=plan.order, header=plan.header, fps=plan.rate)
        try:
            save_motion(baked.motion, output_file(plan, item.name), plan.format, beside)
        except RobikError as error:
            row["error"] = " ".join(str(error).split())
    keep(plan, item, row)
    return row


def _in_blenders(arguments: argparse.Namespace, plan: Plan, items: Items, rows: Rows, tell: Tell) -> None:
    """Let several Blenders bake what is left, until all is done; what ends its Blender twice is told in its row."""

    def look() -> None:
        for name, row in _done(plan, items).items():
            if name not in rows:
                rows[name] = row
                tell(row, len(rows), len(items))

    def left() -> list[str]:
        return [name for name in items if name not in rows]

    count = arguments.workers
    while before := left():
        _run([_command(arguments, "--shard", f"{k + 1}/{count}") for k in range(count)], look)
        if left() == before:
            break
    for name in left():
        said = _run([_command(arguments, "--only", glob.escape(name))], look)
        if name not in rows:
            rows[name] = {"file": items[name][1].name, "error": ": ".join(filter(None, (ENDED, said)))}
            keep(plan, items[name][1], rows[name])


def _run(commands: list[list[str]], look: Callable[[], None]) -> str:
    """Run programs beside each other, call `look` now and then, and return why the last one that failed did so.

    That is the last line on its stderr; empty if none failed or said anything.
    """
    with ExitStack() as files:
        said = [files.enter_context(TemporaryFile("w+", errors="replace")) for _ in commands]
        running = [
            subprocess.Popen(c, stdout=subprocess.DEVNULL, stderr=file) for c, file in zip(commands, said, strict=True)
        ]
        try:
            while any(process.poll() is None for process in running):
                sleep(LOOK)
                look()
        finally:
            for process in running:
                if process.poll() is None:
                    process.kill()
                process.wait()
        look()
        failed, last = [file for file, process in zip(said, running, strict=True) if process.returncode], ""
        for file in failed:
            file.seek(0)
            last = next((line.strip() for line in reversed(file.readlines()) if line.strip()), last)
        return last


def _command(arguments: argparse.Namespace, *more: str) -> list[str]:
    """Return the command of another Blender that does a part of this."""
    if not bpy.data.filepath:
        raise RobikError("--workers opens the file in several Blenders; save it first")
    words = [*blender(), "--background", bpy.data.filepath, "--command", "robik", "batch"]
    words += ["--folder", str(arguments.folder.absolute()), "--format", arguments.format, "--order", arguments.order]
    words += ["--robot", arguments.robot] if arguments.robot else []
    words += ["--rate", str(arguments.rate)] if arguments.rate is not None else []
    words += ["--strips"] if arguments.strips else []
    words += ["--header"] if arguments.header else []
    words += ["--only", arguments.only] if arguments.only and "--only" not in more else []
    return [*words, *more]


def blender() -> list[str]:
    """Return the command that starts this Blender; raise RobikError if it is Blender as a module."""
    if not bpy.app.binary_path:
        raise RobikError("Blender as a Python module starts no others; leave --workers out, or use --shard")
    return [bpy.app.binary_path]


def _told(arguments: argparse.Namespace, rows: list[dict[str, Any]], part: tuple[int, int]) -> int:
    """Write the table, say what failed, and return the command's code."""
    failed = [row for row in rows if row["error"]]
    for row in failed:
        print(f"{row['file']}: {row['error']}", file=sys.stderr)
    if arguments.folder:
        save_tables(rows, arguments.folder.absolute(), "" if part[1] == 1 else f"-{part[0]}-of-{part[1]}")
    told = f"{len(rows) - len(failed)} of {len(rows)} baked"
    print(f"{told}; table.html in {arguments.folder} has the worst first" if arguments.folder else told)
    return 1 if failed and not arguments.errors_in_table else 0
