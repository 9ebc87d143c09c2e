"""Physics: a motion stands or falls as MuJoCo has it, and what cannot be simulated is told in one sentence."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from robik.cli import main
from robik.dynamics.drives import Drive, carry_weight, default_drives, standing_stiffness
from robik.dynamics.inverse import InverseDynamics, inverse_dynamics
from robik.errors import ClipError, MechanismError, RobikError
from robik.formats import save_robot
from robik.formats.mesh_data import write_stl
from robik.mechanism import WORLD, Body, Joint, Mechanism, Pose, Resistance, Visual
from robik.motions import Motion, load_motion, save_motion
from robik.physics import draws, planned, process, run
from robik.physics.export import save_scene
from robik.physics.motors import motor_data, motors_of, told_of_data
from robik.physics.plan import massless
from robik.robots import load, servos_path
from robik.servo.chain.servo import Servo
from tests.physics.robots import STIFF, lean, standing_still, tower


def test_what_is_in_balance_stands() -> None:
    verdict = run(planned(tower(), lean(0.1), STIFF))
    assert verdict.stands
    assert verdict.sentence() == "stands to the end"
    assert verdict.falls_at_s is None
    assert verdict.zero_moment_inside == 1.0
    assert verdict.margin is not None
    assert 0.02 < verdict.margin[0] < 0.1
    assert set(verdict.bodies) == {"foot", "weight"}
    assert verdict.position.shape == (len(verdict.times), 2, 3)


def test_what_leans_too_far_falls_forwards_and_says_so() -> None:
    verdict = run(planned(tower(), lean(0.5, 3.0), STIFF))
    assert not verdict.stands
    assert "weight left sole forwards" in verdict.cause
    assert verdict.falls_at_s is not None
    assert verdict.falls_at_sample == pytest.approx(60 * verdict.falls_at_s, abs=1)
    assert verdict.zero_moment_inside is not None
    assert verdict.zero_moment_inside < 0.9


def test_what_falls_before_the_motion_begins_says_which_way() -> None:
    motion = lean(0.8)
    verdict = run(planned(tower(), replace(motion, values=np.full_like(motion.values, 0.8)), STIFF))
    assert verdict.falls_at_s == 0.0
    assert verdict.cause.startswith("weight left sole forwards")


def test_a_leg_with_a_joint_that_nothing_drives_is_told() -> None:
    """As Cassie's, whose springs are not read: what motors would have to give for it is no number to tell."""
    robot = tower()
    loose = Body("loose", 2.0, com=(0.0, 0.0, 0.4), inertia=(0.02,) * 3 + (0.0,) * 3, pose=Pose((0.0, 0.0, 0.6)))
    hinge = Joint("spring", "revolute", "weight", "loose", position=(0.0, 0.0, 0.6), axis=(0.0, 1.0, 0.0))
    robot = robot.with_changes(bodies=(*robot.bodies, loose), joints=(*robot.joints, hinge))
    assert InverseDynamics(robot).undriven_joints == ("spring",)
    assert InverseDynamics(tower()).undriven_joints == InverseDynamics(load("walker")).undriven_joints == ()
    verdict = run(planned(robot, lean(0.4), STIFF))
    assert not verdict.stands
    assert verdict.obstacles[0].startswith("nothing drives spring: motors and ground alone cannot do the motion")


@pytest.mark.parametrize(("share", "stands"), [(0.7, False), (1.6, True)])
def test_a_motor_holds_a_leg_only_if_it_is_stiffer_than_m_g_h(share: float, stands: bool) -> None:
    robot = tower()
    hinge = 4.0 * 9.81 * 0.5  # of the weight about the hinge
    assert standing_stiffness(robot) > hinge
    verdict = run(planned(robot, lean(0.01, 4.0), {"ankle": Drive(share * hinge, 50.0)}))
    assert verdict.stands is stands
    assert bool(verdict.warnings()) == (share < 2.0)


def test_set_points_that_carry_the_weight_end_where_the_motion_is() -> None:
    soft = {"ankle": Drive(60.0, 50.0)}
    ends = {}
    for carry in (False, True):
        verdict = run(planned(tower(), lean(0.1, 2.5), soft, carry=carry))
        w, _, y, _ = verdict.quaternion[-1, verdict.bodies.index("weight")]
        ends[carry] = 2 * np.arctan2(y, w)
    assert abs(ends[False] - 0.1) > 0.02
    assert abs(ends[True] - 0.1) < 0.005


def test_carried_weight_is_torque_over_stiffness() -> None:
    robot, motion = tower(), lean(0.2)
    forces = inverse_dynamics(robot, motion)
    goals = carry_weight(motion.values, forces, {"ankle": Drive(100.0, 3.0)})
    assert goals[-1, 0] - 0.2 == pytest.approx(-3.0 / 100.0)  # not beyond what the motor can
    goals = carry_weight(motion.values, forces, {"ankle": Drive(100.0)})
    assert goals[-1, 0] - 0.2 == pytest.approx(-4.0 * 9.81 * 0.5 * np.sin(0.2) / 100.0, rel=1e-3)


def test_disturbances_are_told_as_a_share() -> None:
    plan = planned(tower(), lean(0.1), STIFF)
    assert run(plan, draws(4)).stands_share == 1.0
    slippery = [replace(trial, slope=25.0, heading=90.0) for trial in draws(2)]
    assert run(plan, [*draws(2), *slippery]).stands_share == 0.5


def test_draws_are_seeded() -> None:
    assert draws(20) == draws(20)
    assert draws(20)[:5] == draws(5)
    assert all(0.9 <= t.mass <= 1.1 and 0.5 <= t.stiffness <= 1.5 and t.slope <= 1.0 for t in draws(100))


def test_the_stiffness_of_a_servo_follows_its_gain() -> None:
    """885 units of PWM are all of the stall torque; at a gain of 128 a count of error is one unit."""
    motor = motor_data(Servo("hip", 1, "XH430-W350"))
    full = 885 * 2 * np.pi / 4096  # rad of error at a gain of 128
    assert motor.stiffness(128) == pytest.approx(motor.stall_torque / full)
    assert motor.stiffness(900) == pytest.approx(motor.stiffness())
    assert motor.efficiency == pytest.approx(3.4 * 30 * 2 * np.pi / 60 / (12.0 * 1.3))


def test_a_looped_robot_stands_still_in_the_exported_scene(tmp_path: Path) -> None:
    walker = load("walker")
    plan = planned(walker, standing_still(walker))
    scene, robot, _ = save_scene(plan, tmp_path / "stage.xml")
    assert robot.name == "stage_robot.xml"
    model = mujoco.MjModel.from_xml_path(str(scene))
    data = mujoco.MjData(model)
    assert model.nkey == len(plan.motion.times)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    for _ in range(5000):
        mujoco.mj_step(model, data)
    assert float(data.body("torso").xpos[2]) == pytest.approx(walker.rest_pose("torso").position[2], abs=5e-3)
    assert np.abs(data.efc_pos[: data.ne]).max() < 5e-5  # [m] by which loops are open


def test_the_exported_scene_shows_the_robot_and_keeps_its_speeds(tmp_path: Path) -> None:
    walker = load("walker")
    drives = {name: Drive(40.0, 3.0, 2.0) for name in walker.actuators}
    scene, *_ = save_scene(planned(walker, standing_still(walker), drives), tmp_path / "stage.xml")
    model = mujoco.MjModel.from_xml_path(str(scene))
    shapes = sum(len(body.visuals) for body in walker.bodies)
    assert np.count_nonzero(model.geom_group == 2) == shapes > 0
    model.opt.gravity[:] = 0.0
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.qpos[2] += 1.0  # off the floor
    data.ctrl[:] += 100.0  # all that the motors have
    fastest, rate = 0.0, int(model.joint("hip_yaw_l").dofadr[0])
    for _ in range(2000):
        mujoco.mj_step(model, data)
        fastest = max(fastest, float(data.qvel[rate]))
    assert 1.0 < fastest < 2.1, "the base carries it on by a little"


def test_the_keys_of_the_scene_play_the_motion(tmp_path: Path) -> None:
    """A loop of MuJoCo's own that hands the motors each key's goals ends where the motion does."""
    plan = planned(tower(), lean(0.1), STIFF, carry=True)
    model = mujoco.MjModel.from_xml_path(str(save_scene(plan, tmp_path / "stage.xml")[0]))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    for key in range(1, model.nkey):
        while data.time < model.key_time[key]:
            mujoco.mj_step(model, data)
        data.ctrl[:] = model.key_ctrl[key]
    mujoco.mj_step(model, data, 500)
    assert model.key_qpos[-1][7] == pytest.approx(0.1)
    assert data.qpos == pytest.approx(model.key_qpos[-1], abs=5e-3)


def test_meshes_go_along_with_the_scene(tmp_path: Path) -> None:
    robot = tower()
    (tmp_path / "here").mkdir()
    write_stl(tmp_path / "here/foot.stl", np.eye(4, 3), np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]))
    (tmp_path / "here/half.stl").write_bytes((tmp_path / "here/foot.stl").read_bytes()[:-20])
    (tmp_path / "here/text.stl").write_text("solid foot\nendsolid foot\n", encoding="utf-8")
    files = ("foot.stl", "foot.dae", "half.stl", "text.stl")
    shown = replace(robot.bodies[0], visuals=tuple(Visual("mesh", (1.0, 1.0, 1.0), file=file) for file in files))
    plan = planned(replace(robot, bodies=(shown, robot.bodies[1])), lean(0.0), STIFF)
    (tmp_path / "there").mkdir()
    scene, _, said = save_scene(plan, tmp_path / "there/stage.xml", tmp_path / "here/tower.robik.json")
    assert mujoco.MjModel.from_xml_path(str(scene)).nmesh == 1
    assert len(said) == 2
    assert "foot.dae" in said[0]
    assert "half.stl" in said[1]
    assert "text.stl" in said[1]


def test_a_robot_on_the_ground_cannot_fall() -> None:
    arm = load("boxer")
    rest = [value for joint in arm.actuated for value in joint.rest]
    motion = Motion(times=np.arange(10) / 10.0, actuators=arm.actuators, values=np.tile(rest, (10, 1)))
    verdict = run(planned(arm, motion))
    assert verdict.stands
    assert verdict.sentence() == "cannot fall: its base is fixed to the world"
    assert verdict.zero_moment_inside is None
    assert set(verdict.torque_share) == set(arm.actuators)


def test_the_command_prints_the_contract(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    walker = load("walker")
    save_motion(standing_still(walker), tmp_path / "still.csv")
    arguments = ["physics", "walker", str(tmp_path / "still.csv"), "--servos", str(servos_path("walker"))]
    goals = ["--goals", str(tmp_path / "goals.csv")]
    assert main([*arguments, "--p-gain", "8000", "--json", "--trials", "2", "--carry-weight", *goals]) == 0
    sent, still = load_motion(tmp_path / "goals.csv"), load_motion(tmp_path / "still.csv")
    assert sent.actuators == still.actuators
    assert 1e-3 < np.abs(sent.values[0] - still.values[0]).max() < 0.1, "knees are told to go further"
    found = json.loads(capsys.readouterr().out)
    contract = ["stands", "falls_at_s", "cause", "stands_share", "zero_moment_inside", "torque_share"]
    contract += ["heat_share", "leg_stiffness", "disturbances", "obstacles"]
    assert list(found) == [*contract, "gains_raised", "with_stiffer_legs"]
    assert len(found["disturbances"]) == 10
    assert found["stands"] is True
    assert found["stands_share"] == 1.0
    assert set(found["torque_share"]) == set(walker.actuators)
    assert main([*arguments, "--trials", "0"]) == 0
    told = capsys.readouterr().out
    assert "stiffness 0.4 of what standing needs" in told
    assert "raise the P gain" in told


def test_what_cannot_be_simulated_is_told(tmp_path: Path) -> None:
    robot = tower()
    without_base = replace(lean(0.0), base=None)
    with pytest.raises(ClipError, match="no base columns"):
        planned(robot, without_base)
    with pytest.raises(MechanismError, match="has no mass"):
        planned(replace(robot, bodies=tuple(replace(b, mass=0.0) for b in robot.bodies)), lean(0.0))
    light = replace(robot, bodies=(robot.bodies[0], replace(robot.bodies[1], mass=0.0)))
    assert massless(light) == ["weight"]
    with pytest.raises(MechanismError, match="weight can move but has no mass; give it mass"):
        planned(light, lean(0.0))
    with pytest.raises(MechanismError, match="no feet to stand on"):
        planned(replace(robot, frames=()), lean(0.0))


def test_a_stiff_motor_is_as_heavy_as_its_rotor() -> None:
    """A hinge of a rotor that the damping brakes in half a millisecond follows a jump as the equations say."""
    body = Body("arm", 1.0, inertia=(0.01, 0.01, 0.01, 0.0, 0.0, 0.0))
    hinge = Joint("turn", "revolute", WORLD, "arm", axis=(0.0, 0.0, 1.0), actuated=True,
                  resistance=Resistance(armature=0.05))  # fmt: skip
    times = np.arange(0.0, 0.3, 0.01)
    jump = Motion(times=times, actuators=("turn",), values=np.where(times >= 0.1, 0.2, 0.0)[:, None])
    plan = planned(Mechanism("arm", (body,), (hinge,)), jump, {"turn": Drive(7000.0, 1e6)})
    verdict = run(plan)
    found = 2.0 * np.arcsin(verdict.quaternion[:, verdict.bodies.index("arm"), 3])

    def rate(t: float, state: np.ndarray) -> list[float]:
        goal = plan.goals[min(int(t * plan.rate + 1e-6), len(plan.goals) - 1), 0]
        return [state[1], (7000.0 * (goal - state[0]) - 140.0 * state[1]) / 0.06]

    started = verdict.times[verdict.times > 0.0]
    wanted = solve_ivp(rate, (0.0, started[-1]), [0.0, 0.0], t_eval=started, max_step=1e-4, rtol=1e-8).y[0]
    assert np.abs(found[verdict.times > 0.0] - wanted).max() < 2e-3  # 7.7e-3 where steps add damping to the inertia


def test_more_torque_is_asked_for_where_it_would_help() -> None:
    """The hinge needs 2.9 N m to hold the weight over the sole; beyond the sole no torque holds it."""
    weak = {"ankle": Drive(200.0, 1.5)}
    over = run(planned(tower(), lean(0.15), weak))
    assert not over.stands
    assert over.obstacles[0].startswith("the motion needs more torque than motors have: ankle ")
    assert over.obstacles[0].endswith("; with stronger motors the robot stands")
    assert run(planned(tower(), lean(0.15), {"ankle": Drive(200.0, 15.0)})).stands, "so it says what is true"
    beyond = run(planned(tower(), lean(0.6), weak))
    first, *others = beyond.obstacles
    assert first.startswith("in "), "a force that no foot can give comes first"
    assert any("; with stronger motors the robot falls as well, after " in line for line in others)


def test_wrong_options_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["physics", "walker", "still.csv", "--p-gain", "800"]) == 2
    assert "--p-gain is of servos" in capsys.readouterr().err


def test_numbers_that_are_none_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "still.csv"
    save_motion(standing_still(load("walker")), path)
    lines = path.read_text().splitlines()
    lines[5] = lines[5].replace(lines[5].split(",")[1], "nan", 1)
    path.write_text("\n".join(lines) + "\n")
    assert main(["physics", "walker", str(path)]) == 2
    said = capsys.readouterr().err
    assert "is not a finite number" in said
    assert said.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_process_that_is_killed_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = process.simulate(planned(tower(), lean(0.0, 5.0), STIFF), draws(20))
    started = []
    original = process._start
    monkeypatch.setattr(process, "_start", lambda *a: started.append(original(*a)) or started[-1])
    next(steps)
    os.kill(started[0].pid, signal.SIGKILL)
    with pytest.raises(RobikError, match=r"ended from outside \(signal 9\)"):
        list(steps)


def test_who_stops_asking_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    original = process._start
    monkeypatch.setattr(process, "_start", lambda *a: started.append(original(*a)) or started[-1])
    steps = process.simulate(planned(tower(), lean(0.0, 5.0), STIFF), draws(20))
    assert 0.0 <= next(steps) <= 1.0
    steps.close()
    assert started[0].poll() is not None


def soft_tower() -> Mechanism:
    """A tower whose file has 1.3 of what standing needs."""
    robot = tower()
    base, hinge = robot.joints
    return replace(
        robot,
        joints=(
            base,
            replace(hinge, gain=1.3 * standing_stiffness(robot), effort_limit=0.2 * standing_stiffness(robot)),
        ),
    )


def test_the_gains_of_the_file_are_judged_and_stiffer_ones_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_robot(soft_tower(), tmp_path / "tower.robik.json")
    save_motion(lean(0.08, 3.0), tmp_path / "lean.csv")
    words = ["physics", str(tmp_path / "tower.robik.json"), str(tmp_path / "lean.csv"), "--trials", "0"]
    assert main([*words, "--json"]) == 0
    own = json.loads(capsys.readouterr().out)
    assert own["stands"] is False
    assert own["leg_stiffness"] == {"sole": pytest.approx(1.3)}
    assert own["gains_raised"] is None
    assert own["with_stiffer_legs"] == {
        "before": pytest.approx(1.3), "after": pytest.approx(2.0), "stands": True, "falls_at_s": None,
    }  # fmt: skip
    gains = "with gains of 1.5 times those of the file: legs have 2.0 instead of 1.3 of what standing needs (m g h)"
    assert main(words) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("falls at frame")
    assert said[1] == f"{gains}, it stands"
    assert main([*words, "--stiffness", "2"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("stands to the end")
    assert said[1] == gains


def test_legs_of_which_the_file_says_nothing_are_told_to_be_a_guess() -> None:
    told = "the file has no gains: legs are taken to have {} of what standing needs (m g h)"
    assert told_of_data(motors_of(None, tower())) == told.format("4.0")
    base, hinge = tower().joints
    weak = replace(tower(), joints=(base, replace(hinge, effort_limit=1.0)))
    assert told_of_data(motors_of(None, weak)) == told.format("2.0")
    assert motors_of(None, weak).stiffer is None
    assert told_of_data(motors_of(None, soft_tower())) == ""


def test_without_motor_limits_a_default_is_stiff_enough() -> None:
    robot = tower()
    assert default_drives(robot)["ankle"].stiffness == pytest.approx(4.0 * standing_stiffness(robot))
