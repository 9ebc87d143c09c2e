"""Robots of the experiments on poses: those that ship, and those of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from robik.formats import import_robot
from robik.mechanism import Mechanism
from robik.robots import load
from robik.skeleton.handles import handle_frames


def robots_of(
    ours: tuple[str, ...], folder: str, files: tuple[str, ...], base: str = "auto"
) -> Iterator[tuple[str, Mechanism, str]]:
    """Yield name, robot and first handle of ours, and of those `files` of a folder that are there, on a base."""
    for name in ours:
        robot = load(name, base)
        yield name, robot, handle_frames(robot)[-1]
    for path in (Path(folder) / file for file in files):
        if folder and path.exists():
            robot = import_robot(path, base=base).mechanism
            yield str(path.relative_to(folder)), robot, handle_frames(robot)[0]
