"""Compilation of everything that solving needs, in this process."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import numpy as np

from ..clips.clip import TargetClip
from ..dynamics import inverse_dynamics
from ..feet.support import signed_distance
from ..ik import hessian, newton, sqp
from ..ik.work import new_work
from ..jit import by_reference, compile_for
from ..kinematics import ball_coordinates, curvature, elimination
from ..kinematics.forward import ForwardKinematics
from ..kinematics.frames import read_states
from ..kinematics.kernels import new_placement
from ..kinematics.singularity import meter_of
from ..mechanism.model import Mechanism
from ..mechanism.topology import build_topology
from ..motions import Motion
from ..objectives.clearance import Clearance
from ..objectives.objective import States
from ..objectives.registry import new_tables
from ..retargeting.retarget import retarget
from ..tracking import DifferentialTracker, ForwardDynamicsTracker, StateBasedTracker, Target, Targets, Tracker
from ..tracking.feed import Feed, FeedSettings
from .problems import SETTINGS, TIMES, asking_for_all, loop, to_and_fro, tree
from .processes import help_compiling


def compile_all(is_helped: bool = True) -> None:
    """Compile, or load from disk, everything that solving, balance and inverse dynamics need.

    The needs of large robots alone come after the rest; after them objectives beside frames and the centre of mass, one
    by one; then trackers, and all frames at once last. With `is_helped`, a second process compiles meanwhile what
    solving comes to last.
    """
    if is_helped:
        help_compiling()
    usual = loop(), tree()
    for mechanism, clip in usual:
        retarget(mechanism, clip, SETTINGS)
        meter_of(build_topology(mechanism))
    for mechanism, clip in usual:
        retarget(mechanism, asking_for_all(mechanism, clip), SETTINGS)
    looped, _ = usual[0]
    still = np.zeros((len(TIMES), 1))
    _pose(looped, still)
    inverse_dynamics(looped, Motion(times=TIMES, actuators=looped.actuators, values=still))
    signed_distance(np.zeros((1, 2)), np.zeros((3, 2)))
    ball_coordinates.follow(np.zeros((1, 3)), np.array([[0.0, 0.0, 0.0, 1.0]]), np.zeros(3))
    _follow(*usual[0])
    if find_spec("piqp"):
        slow = replace(SETTINGS, acceleration_limit=1.0, torque_limit=0.1)  # so that there is something to improve
        retarget(looped, to_and_fro(), slow, look_ahead=True)


def _pose(mechanism: Mechanism, values: np.ndarray) -> None:
    """Pose a robot along actuator values, in every way that motions are posed; and measure the gap of two bodies."""
    fk = ForwardKinematics(mechanism)
    poses = fk.poses(values)
    fk.linearized(values, mechanism.actuators)
    flat, bodies = fk.flat, fk.flat.bodies
    states = np.zeros((1, bodies, 3)), np.zeros((1, bodies, 4))
    compile_for(read_states, flat, fk.now, fk.coordinates[None], np.zeros((bodies, 4)), *states)
    one, other = (body.name for body in mechanism.bodies[:2])
    wall = Clearance(one, other, least=np.zeros(len(values)), points=np.zeros((2, 2, 3)))
    wall.gaps(States(mechanism, poses.position, poses.quaternion))


def _follow(mechanism: Mechanism, clip: TargetClip) -> None:
    """Follow the first targets of a clip, and the centre of mass, live."""
    Feed(np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), FeedSettings()).step(TIMES[1])
    trackers: list[type[Tracker]] = [StateBasedTracker, ForwardDynamicsTracker]
    if find_spec("daqp"):
        trackers.append(DifferentialTracker)
    wanted = {
        name: Target(
            None if track.position is None else track.position[0],
            None if track.quaternion is None else track.quaternion[0],
        )
        for name, track in clip.tracks.items()
    }
    com = np.array([0.5, 0.0, 0.5])
    for tracker in trackers:
        tracker(mechanism).step(Targets(wanted, com=None if tracker is ForwardDynamicsTracker else com), TIMES[1])
    one, other = (body.name for body in mechanism.bodies[:2])
    wall = Clearance(one, other, least=np.zeros(1), points=np.zeros((2, 2, 3)))
    StateBasedTracker(mechanism).step(Targets(wanted, objectives=(wall,)), TIMES[1])  # as walls live between bodies


def compile_last() -> None:
    """Compile what solving comes to last, while another process compiles the rest; what depends on little first."""
    mechanism, _ = loop()
    topology = build_topology(mechanism)
    flat = by_reference(topology.flat)
    now, work = new_placement(flat, topology.rest), new_work(flat, topology.rest)
    tables = new_tables(topology, [], now)
    frame = flat, now, tables, work
    compile_for(hessian.matrix, flat, now, work.terms, work.system, work.K)
    compile_for(curvature.closure_curvature, flat, now, work.step, work.system)
    compile_for(hessian.times, flat, now, tables, work.terms, work.system, work.step, work.step)
    compile_for(newton._step, *frame, True, True)
    compile_for(newton.leave_saddle, flat, now, work)
    compile_for(elimination.refactor, flat, now, work.e)
    compile_for(sqp._search, *frame, True, 0.0, 0.0, 0.0, 0)
    compile_for(sqp._finish, *frame, True, 0.0, 0.0)
