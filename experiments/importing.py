"""Seconds of processor time to import a robot of 130 links and 24 loops, stored open."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path

from experiments.experiment import Experiment, Found, tell
from robik.formats import import_robot

LOOPS = 24
SPINE = 10  # links that carry the loops, the base among them
RUNS = 7


def write_looped_robot(folder: Path) -> Path:
    """Return a spine whose links carry four-bar linkages, each open by some centimetres at zero. 130 links in all."""
    links, joints, loops = [f"spine_{k}" for k in range(SPINE)], [], []

    def joint(name: str, kind: str, parent: str, child: str, xyz: str, rpy: str = "0 0 0") -> None:
        place = f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/>'
        joints.append(
            f'<joint name="{name}" type="{kind}">{place}<parent link="{parent}"/><child link="{child}"/></joint>'
        )

    for k in range(1, SPINE):
        joint(f"spine_{k}", "continuous", f"spine_{k - 1}", f"spine_{k}", "0 0 0.2", "0.3 0 0")
    for k in range(LOOPS):
        crank, rod, rocker, rod_end, rocker_end = (
            f"{part}_{k}" for part in ("crank", "rod", "rocker", "rod_end", "rocker_end")
        )
        links += [crank, rod, rocker, rod_end, rocker_end]
        at = f"spine_{k % SPINE}"
        joint(crank, "continuous", at, crank, f"0 0 0.0{k % 7}", f"0 0 {1.2 + 0.02 * k}")
        joint(rod, "continuous", crank, rod, "0.05 0 0", "0 0 -1")
        joint(rocker, "continuous", at, rocker, f"0.2 0 0.0{k % 7}", "0 0 1.6")
        joint(rod_end, "fixed", rod, rod_end, "0.21 0 0")
        joint(rocker_end, "fixed", rocker, rocker_end, "0.1 0 0")
        loops.append({"name": f"loop_{k}", "frames": [rod_end, rocker_end], "type": "revolute", "axis": [0, 0, 1]})
    parts = "".join(f'<link name="{name}"/>' for name in links) + "".join(joints)
    path = folder / "looped.urdf"
    path.write_text(f'<robot name="looped">{parts}</robot>', encoding="utf-8")
    path.with_name("looped.loops.json").write_text(
        json.dumps({"format": "robik-loops", "version": 1, "loops": loops}), encoding="utf-8"
    )
    return path


def run(runs: int = RUNS) -> Found:
    """Import once, which loads the compiled kernels, then a few times more."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_looped_robot(Path(folder))
        seconds = []
        for k in range(runs + 1):
            tell(f"importing: {k} of {runs}")
            begin = time.process_time()
            imported = import_robot(path)
            seconds.append(time.process_time() - begin)
    links, later = len(imported.mechanism.bodies), statistics.median(seconds[1:])
    return {"report": imported.report[-1], "links": links, "first_s": seconds[0], "median_s": later}


def show(found: Found) -> None:
    """Print the first import and the median of the others."""
    print(found["report"])
    print(f"{found['links']} links; first import {found['first_s']:.2f} s, then {found['median_s']:.3f} s")


EXPERIMENT = Experiment(run=run, show=show, parameters={"runs": (RUNS, RUNS)})
