"""Robots of hundreds of bodies: what describing them costs, that it ends in time, and that it can be stopped."""

from __future__ import annotations

import tracemalloc
from math import cos, pi, sin
from pathlib import Path
from threading import Event
from time import thread_time

import numpy as np
import pytest

from robik.budget import Budget, within
from robik.formats import import_robot
from robik.kinematics.driven import actuation
from robik.kinematics.forward import ForwardKinematics
from robik.kinematics.kernels import closure_jacobian
from robik.kinematics.mobility import inspect
from robik.mechanism import topology
from tests.formats.mjcf_text import write

MASS = '<inertial pos="0 0 0" mass=".1" diaginertia="1e-4 1e-4 1e-4"/>'


def ring(folder: Path, bodies: int, motors: int = 0) -> Path:
    """A chain of balls along a circle, whose last link is tied to the world where it ends."""
    way = [(cos(2 * pi * k / (bodies + 1)), sin(2 * pi * k / (bodies + 1))) for k in range(bodies + 1)]
    steps = [(x - u, z - w) for (x, z), (u, w) in zip(way, [(0.0, 0.0), *way], strict=False)]
    links = "".join(
        f'<body name="b{k}" pos="{x} 0 {z}"><joint name="j{k}" type="ball"/>{MASS}'
        for k, (x, z) in enumerate(steps[:-1])
    )
    tie = f'<connect body1="b{bodies - 1}" anchor="{steps[-1][0]} 0 {steps[-1][1]}"/>'
    driven = "".join(f'<motor joint="j{k}"/>' for k in range(motors))
    return write(folder, links + "</body>" * bodies, f"<equality>{tie}</equality><actuator>{driven}</actuator>")


def ladder(folder: Path, loops: int) -> Path:
    """A spine of hinges with a four-bar linkage on each of its links: four bodies a loop."""
    bodies, ties, motors = "", "", ""
    for k in range(loops):

        def hinge(name: str, axis: str = "0 1 0", number: int = k) -> str:
            return f'<joint name="{name}{number}" axis="{axis}"/>{MASS}'

        rod_pins, rocker_pins = (
            "".join(f'<site name="{name}{k}_{y > 0}" pos="{x} {y} {z}"/>' for y in (-0.01, 0.01))
            for name, x, z in (("rod", 0.08, 0.0), ("rocker", -0.02, 0.05))
        )
        bodies += (
            f'<body name="s{k}" pos="0 0 .1">{hinge("s", "1 0 0" if k % 2 else "0 1 0")}'
            f'<body name="a{k}" pos=".02 0 0">{hinge("a")}'
            f'<body name="r{k}" pos="0 0 .05">{hinge("r")}{rod_pins}</body></body>'
            f'<body name="c{k}" pos=".12 0 0">{hinge("c")}{rocker_pins}</body>'
        )
        ties += "".join(f'<connect site1="rod{k}_{side}" site2="rocker{k}_{side}"/>' for side in (True, False))
        motors += f'<motor joint="s{k}"/><motor joint="a{k}"/>'
    return write(folder, bodies + "</body>" * loops, f"<equality>{ties}</equality><actuator>{motors}</actuator>")


def test_a_ladder_is_laid_out_as_often_as_a_short_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, lay_out = list[object](), topology.lay_out
    monkeypatch.setattr(topology, "lay_out", lambda *parts: calls.append(parts) or lay_out(*parts))
    counts = []
    for loops in (2, 12):
        calls.clear()
        import_robot(ladder(tmp_path, loops))
        counts.append(len(calls))
    assert counts[0] == counts[1] <= 4


def test_a_long_ring_is_described_in_time_that_grows_with_its_bodies(tmp_path: Path) -> None:
    """400 balls took 16 s, most of it in an elimination that is cubic."""
    import_robot(ring(tmp_path, 8))  # loads the compiled kernels
    path, start = ring(tmp_path, 400), thread_time()
    found = import_robot(path)
    assert thread_time() - start < 6.0
    assert found.report[-1] == "one loop, 1197 degrees of freedom, 0 motors; the rest pose is closed to 0.0e+00 m"


def test_a_long_ring_is_described_in_little_memory(tmp_path: Path) -> None:
    """Its degrees of freedom squared, in doubles, are 11 MB; writing pairs of them out took 305, each time."""
    robot = import_robot(ring(tmp_path, 400)).mechanism.with_changes()
    tracemalloc.start()
    inspect(robot)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80e6


@pytest.mark.parametrize("motors", [0, 3, 20])
def test_idle_motions_are_a_basis_of_what_no_motor_moves(tmp_path: Path, motors: int) -> None:
    """Judged by a singular value decomposition: each can be had by its joints alone, and there are as many as ways."""
    robot = import_robot(ring(tmp_path, 20, motors)).mechanism
    found = actuation(robot)
    fk = ForwardKinematics(robot)
    C = closure_jacobian(fk.flat, fk.now) / fk.flat.size
    driven = {dof for joint in robot.actuated for dof in _dofs(fk, joint.name)}
    idle = [k for k in range(C.shape[1]) if k not in driven]
    ways = len(idle) - np.linalg.matrix_rank(C[:, idle], tol=1e-7)
    assert (found.freedoms, found.actuated) == (57, 3 * motors)
    assert len(found.idle) == ways
    assert found.surplus == 3 * motors + ways - 57
    for joints in found.idle:
        own = [dof for name in joints for dof in _dofs(fk, name)]
        assert np.linalg.matrix_rank(C[:, own], tol=1e-7) < len(own), joints


def _dofs(fk: ForwardKinematics, joint: str) -> range:
    """Degrees of freedom of a ball."""
    tip = int(fk.flat.tip[fk.topology.joint_at[joint]])
    return range(tip - 2, tip + 1)


def test_what_is_not_known_when_the_time_is_over_is_said(tmp_path: Path) -> None:
    path = ladder(tmp_path, 60)
    with within(Budget(seconds=0.01)):
        found = import_robot(path)
        assert inspect(found.mechanism).mobility == 120, "whoever asks for it afterwards has all the time"
    (said,) = found.warnings
    assert said.startswith("0.03 s were too short to find its degrees of freedom and whether its motors move it")
    assert found.mechanism == import_robot(path).mechanism


def test_describing_tells_how_far_it_is_and_can_be_stopped(tmp_path: Path) -> None:
    unwanted, told = Event(), list[str]()

    def tell(sentence: str) -> None:
        told.append(sentence)
        if sentence == "Describing the robot: loops 3 of 60":
            unwanted.set()

    with within(Budget(is_unwanted=unwanted.is_set, tell=tell)):
        import_robot(ladder(tmp_path, 60))
    assert told[-1] == "Describing the robot: loops 3 of 60"
