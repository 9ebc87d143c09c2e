"""One recording of a batch: solved, written, and told in a row.

The solver is imported where it is called: the process that hands recordings out does without.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ..errors import RobikError
from ..files import write_whole
from .table import TRACE

if TYPE_CHECKING:
    import numpy as np

    from ..mechanism import Mechanism
    from ..motions import Motion
    from ..retargeting.own_range import OwnRange

LOG = logging.getLogger(__name__.partition(".batch.")[0])  # of the whole library
ROWS = ".robik-batch"  # folder of the rows in the output folder: a file is done where its row is
POINTS = 80  # of a motion's small plot
KEPT = ("frames", "ms_per_frame_median", "position_error_mean_m", "position_error_max_m", "constraint_residual_max")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Instructions for every recording of a batch.

    Attributes:
        robot: a robot's file or the name of one that comes with RobIK.
        base: fixed, floating or auto.
        output: folder of what is written.
        format: a name of the motion formats.
        extension: of the files; empty where a motion is a folder.
        balance, pin_feet, mapping, body_model, servos, rate, order, header, own_range: as `robik retarget` has them.
        settings: fields of `BakeSettings` by name, for those that are not its own defaults.
        before: folder of the motions, by the recordings' names, into which own ranges go.
    """

    robot: str
    output: str
    format: str
    extension: str
    base: str = "auto"
    balance: str = "auto"
    pin_feet: bool = True
    settings: dict[str, Any] = field(default_factory=dict, hash=False)
    mapping: str | None = None
    body_model: str | None = None
    servos: str | None = None
    rate: float | None = None
    order: str = "depth"
    header: bool = False
    own_range: tuple[int, int] | None = None
    before: str | None = None


@dataclass(frozen=True)
class Item:
    """A recording: where it is, and its path in the folder without the extension."""

    file: str
    name: str


_robots: dict[tuple[str, str], tuple[Mechanism, Path]] = {}  # of this process: a warm worker reads its robot once


def is_compiled() -> bool:
    """Return whether the solver is compiled on this machine, and import it."""
    from ..ik.sqp import minimise
    from ..jit import kinds_in_cache
    from ..recordings import retargeting  # noqa: F401

    return kinds_in_cache(minimise) != 0


def row_file(plan: Plan, name: str) -> Path:
    """Return the path of a recording's row, a JSON file below the plan's output."""
    return Path(plan.output) / ROWS / f"{name}.json"


def done_row(plan: Plan, item: Item) -> dict[str, Any] | None:
    """Return the row of a recording that was done with the same plan and has not changed since; None for others."""
    try:
        kept = json.loads(row_file(plan, item.name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    same = isinstance(kept, dict) and kept.get("of") == _fingerprint(plan, item)
    there = same and (kept["row"].get("error") or output_file(plan, item.name).exists())
    return kept["row"] if there else None


def output_file(plan: Plan, name: str) -> Path:
    """Return the path of a recording's motion, with the extension of the plan's format."""
    return Path(plan.output) / f"{name}{plan.extension}"


def do(plan: Plan, item: Item) -> dict[str, Any]:
    """Retarget a recording, write its motion, and then its row, which says that it is done.

    The row has the file, the error in words (empty if none), the time [s], and the figures of the motion.
    """
    row: dict[str, Any] = {"file": item.name, "error": ""}
    began = perf_counter()
    try:
        row |= _solved(plan, item)
    except RobikError as error:
        other = done_row(plan, item)
        if other is not None and not other["error"]:
            return other  # another process did it meanwhile, and took the file's place
        row["error"] = " ".join(str(error).split())
    except Exception as error:  # one recording that finds a defect must not end a night's work: its row tells of it
        row["error"] = f"a defect of RobIK: {type(error).__name__}: {' '.join(str(error).split())}"
    row["seconds"] = round(perf_counter() - began, 3)
    keep(plan, item, row)
    return row


def keep(plan: Plan, item: Item, row: dict[str, Any]) -> None:
    """Write the row of a recording, whole or not at all."""
    file = row_file(plan, item.name)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, json.dumps({"of": _fingerprint(plan, item), "row": row}))


def ended_row(plan: Plan, item: Item) -> dict[str, Any]:
    """Write and return the row of a recording whose worker process ended.

    Where another process was done with it, return that row.
    """
    if (done := done_row(plan, item)) is not None:
        return done
    row = {"file": item.name, "error": "the process that worked on it ended", "seconds": 0.0}
    keep(plan, item, row)
    return row


def _solved(plan: Plan, item: Item) -> dict[str, Any]:
    """Write a motion and return the figures of its quality."""
    from ..bake.settings import BakeSettings
    from ..mechanism.base import with_base
    from ..motions import Companions, save_motion
    from ..recordings.retargeting import retarget_recording
    from ..robots import file_of, load
    from ..warm_up import help_compiling

    help_compiling()
    key = plan.robot, plan.base
    if key not in _robots:
        file = file_of(plan.robot)
        _robots[key] = with_base(load(file), plan.base), file
    mechanism, file = _robots[key]
    with _noted() as notes:
        found = retarget_recording(
            mechanism,
            item.file,
            balance=plan.balance,
            pin_feet=plan.pin_feet,
            settings=BakeSettings(**plan.settings),
            mapping=plan.mapping,
            body_model=plan.body_model,
            servos=plan.servos,
            robot_file=file,
            own_range=_own_range(plan, item, mechanism),
        )
    output = output_file(plan, item.name)
    output.parent.mkdir(parents=True, exist_ok=True)
    beside = Companions(robot=found.mechanism, order=plan.order, header=plan.header, fps=plan.rate)
    save_motion(found.motion, output, plan.format, beside)
    return figures_of(found.motion) | ({"note": "; ".join(notes)} if notes else {})


def _own_range(plan: Plan, item: Item, mechanism: Mechanism) -> OwnRange | None:
    """Return the own range of a recording; None where all frames are solved."""
    from ..motions import Companions, load_motion
    from ..retargeting.own_range import OwnRange

    if plan.own_range is None:
        return None
    file = _before(plan, item)
    return OwnRange(*plan.own_range, load_motion(file, companions=Companions(robot=mechanism)), str(file))


def _before(plan: Plan, item: Item) -> Path:
    """Return the motion of a recording into which an own range goes."""
    return Path(plan.before or "") / f"{item.name}{plan.extension}"


@contextmanager
def _noted() -> Iterator[list[str]]:
    """Collect what the library warns of meanwhile, in words; compiling is not the recording's."""
    notes: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.addFilter(lambda record: not record.name.startswith(f"{LOG.name}.jit"))
    handler.emit = lambda record: notes.append(" ".join(record.getMessage().split()))  # type: ignore[method-assign]
    LOG.addHandler(handler)
    try:
        yield notes
    finally:
        LOG.removeHandler(handler)


def figures_of(motion: Motion) -> dict[str, Any]:
    """Return the figures of a motion's quality that the table shows, by name."""
    import numpy as np

    from ..motions import report_summary

    summary = report_summary(motion)
    figures: dict[str, Any] = {key: summary[key] for key in KEPT}
    figures["frames_too_fast"], figures["frames_short"] = len(summary["frames_too_fast"]), len(summary["frames_short"])
    quality = summary.get("quality") or {}
    if motion.report is not None and motion.report.position_error.size:
        figures[TRACE] = trace(np.nan_to_num(motion.report.position_error).max(axis=1))
    return figures | {key: value for key, value in quality.items() if isinstance(value, int | float)}


def trace(values: np.ndarray) -> list[float]:
    """Return at most `POINTS` points of a line: the largest of neighbouring values, in three digits."""
    import numpy as np

    parts = np.array_split(np.asarray(values, dtype=float), min(POINTS, len(values)))
    return [float(f"{part.max():.3g}") for part in parts]


def _fingerprint(plan: Plan, item: Item) -> list[Any]:
    """Return what a row depends on: the plan, and sizes and times of change of the recording and the motion before."""
    found: list[Any] = [json.loads(json.dumps(asdict(plan))), item.name]  # as the row keeps it, tuples as lists
    for file in (Path(item.file), *([] if plan.before is None else [_before(plan, item)])):
        try:
            about = file.stat()
        except OSError:  # who reads it says so
            continue
        found += [about.st_size, about.st_mtime_ns]
    return found
