"""Setting a robot's servos up: who is on the bus, and the chain that the scene keeps.

Whatever talks to the port does so in a `Task`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from time import sleep
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ...robik.errors import RobikError, ServoError
from ...robik.servo.brands.registry import DEFAULT, brand_at, brand_of
from ...robik.servo.brands.workshop import Workshop
from ...robik.servo.bus.telemetry import Change, Seen
from ...robik.servo.chain.chain import ServoChain
from ...robik.servo.chain.file import chain_text
from ...robik.servo.chain.port_name import SIMULATED, device_of
from ...robik.servo.port.outside import ports_of
from ...robik.servo.setup import setup
from ...robik.servo.setup.nudge import slow_nudge
from ...robik.servo.setup.setup import Dragging
from ...robik.servo.setup.task import Task
from ..robot.chain import known_chain, one_per_motor, servo_chain
from ..robot.parts import chosen_robot, parts
from ..robot.reading import read_robot
from . import leader, play

GLANCE = 0.05  # [s] between looks at which servo moves
PATIENCE = 30.0  # [s] in which one should
NUDGE, NUDGE_TIME = np.radians(5.0), 1.0  # [rad] or [m / 10], and [s] out and back again

_task: Task | None = None
_seen: list[Seen] = []
_advice: list[Change] = []
_brand = DEFAULT  # of the latest scan


def seen() -> list[Seen]:
    """Return the servos that the latest scan found."""
    return _seen


def advice() -> list[Change]:
    """Return what should be changed about them, so that they can stream."""
    return _advice


def task() -> Task | None:
    """Return what goes on now, or went on last."""
    return _task


def _start(port: str, work: Callable[[Task, Workshop], object], baud_rate: int | None = None) -> Task:
    """Start a task on an open bus; raise ServoError if a player has the port, or there is nothing to set up."""
    global _task
    if port.strip() in ("", SIMULATED):
        raise ServoError("simulated servos need no setting up; name the serial port of real ones")
    if play.is_open():
        raise ServoError("the servos are connected for playing; disconnect first")
    leading = leader.player()
    if leading is not None and device_of(port) in map(device_of, ports_of(leading.chain, leading.port)):
        raise ServoError("the leader is connected on this port; disconnect it first")
    if _task is not None and not _task.is_done:
        raise ServoError(f"still busy ({_task.said}); wait, or cancel")

    def on_bus(task: Task) -> object:
        with closing(setup.open_workshop(port.strip(), baud_rate, _brand.name)) as workshop:
            return work(task, workshop)

    _task = Task(on_bus)
    return _task


def scan(port: str, brand: str = DEFAULT.name) -> Task:
    """Ask at all likely baud rates who is there, and what should be changed about them."""
    global _brand
    _brand = made = brand_at(port) or brand_of(brand)

    def work(task: Task, workshop: Workshop) -> None:
        found = workshop.scan((rate for rate in made.likely_bauds if not task.is_cancelled), task.say)
        _seen[:], _advice[:] = found, workshop.advice(found, made.streaming_baud)
        other, words = "", ""
        if not any(one.model for one in found) and not task.is_cancelled:
            workshop.close()
            other, words = setup.other_brand(port.strip(), made.name, task.say)
        if other:
            task.say(f"{words}; choose such a model for a servo of the chain, and scan again")
        else:
            task.say(
                f"{len(found)} servos found" if found else "no servo answers; check the power, the cable and the port"
            )

    return _start(port, work)


def prepare(port: str) -> Task:
    """Make the changes that the latest scan advised."""
    changes = list(_advice)

    def work(task: Task, workshop: Workshop) -> None:
        task.say(f"making {len(changes)} changes")
        workshop.apply(changes)
        rates = {change.servo.id: _brand.streaming_baud for change in changes if change.entry == "baud_rate"}
        _seen[:] = [replace(one, baud_rate=rates.get(one.id, one.baud_rate)) for one in _seen]
        _advice[:] = []
        task.say(f"{len(changes)} changes made")

    return _start(port, work)


def change(port: str, id: int, new_id: int, new_baud_rate: int) -> Task:
    """Give a servo that the scan found another id and baud rate."""
    one = next((one for one in _seen if one.id == id), None)
    if one is None:
        raise ServoError(f"the latest scan found no servo {id}; scan again")

    def work(task: Task, workshop: Workshop) -> None:
        task.say(f"setting servo {id}")
        now = workshop.set_id(one, new_id) if new_id != id else one
        now = workshop.set_baud_rate(now, new_baud_rate) if new_baud_rate != now.baud_rate else now
        _seen[_seen.index(one)] = now
        task.say(f"servo {now.id} answers at {now.baud_rate} baud")

    return _start(port, work)


def find_dragged(port: str, actuator: str) -> Task:
    """Wait for somebody to move the actuator by hand; its result is the servo that moved, or None."""
    rates = {one.baud_rate for one in _seen}
    if len(rates) != 1:
        raise ServoError(
            "scan first, and bring all servos to one baud rate" if rates else "scan first, so that the servos are known"
        )
    candidates = [one for one in _seen if one.model in _brand.playable]

    def work(task: Task, workshop: Workshop) -> Seen | None:
        dragging = Dragging(workshop, candidates)
        task.say(f"move {actuator} by hand")
        for _ in range(int(PATIENCE / GLANCE)):
            moved = dragging.moved()
            if moved is not None or task.is_cancelled:
                task.say(f"{actuator} is servo {moved.id}" if moved else "cancelled")
                return moved
            sleep(GLANCE)
        raise ServoError(f"nobody moved {actuator}; turn torque off and move it by more than 5°")

    return _start(port, work, rates.pop())


def brand(scene: Scene) -> str:
    """Return the brand that a scan asks for: that of the chosen robot's servos on the port that is played on."""
    try:
        chain = known_chain(chosen_robot(scene), scene)
    except RobikError:
        return DEFAULT.name
    return chain.brand.name if chain else DEFAULT.name


# the chain


def keep(scene: Scene, chain: ServoChain) -> None:
    """Keep this chain as the scene's; a servo file that was chosen no longer is.

    A player that is connected lets go, and must connect again.
    """
    play.disconnect()
    scene.robik.servos = ""
    scene.robik.playing.chain = chain_text(chain)


def assign(scene: Scene, root: Object, actuator: str, one: Seen) -> None:
    """Let this servo turn this actuator."""
    keep(scene, setup.assigned(servo_chain(root, read_robot(root), scene), actuator, one))


def turn_round(scene: Scene, root: Object, id: int) -> None:
    """Reverse this servo's direction."""
    keep(scene, setup.turned_round(servo_chain(root, read_robot(root), scene), id))


def edit(scene: Scene, root: Object, id: int, /, **entries: Any) -> None:
    """Set entries of this servo; raise ServoError if the chain cannot have them."""
    keep(scene, setup.edited(servo_chain(root, read_robot(root), scene), id, **entries))


def add(scene: Scene, root: Object, actuator: str) -> int:
    """Add another servo for an actuator, at the next free id, and return the id.

    It is the mirror image of the one that the actuator has, if any. Raise ServoError if the robot has no such
    motor.
    """
    mechanism = read_robot(root)
    chain = servo_chain(root, mechanism, scene)
    twin = next((servo for servo in chain.servos if servo.actuator == actuator), None)
    if twin is None and actuator not in mechanism.actuators:
        raise ServoError(f"the robot has no motor {actuator!r}; it has {', '.join(mechanism.actuators)}")
    if twin is None:
        first = chain.servos[0]
        fresh = one_per_motor(mechanism, first.model, first.brand)
        made = fresh.servos[fresh.actuators.index(actuator)]
    else:
        made = replace(twin, direction=-twin.direction)
    chain = setup.with_another(chain, made)
    keep(scene, chain)
    return next(servo.id for servo in reversed(chain.servos) if servo.actuator == actuator)


def remove(scene: Scene, root: Object, id: int) -> None:
    """Remove this servo from the chain."""
    keep(scene, setup.without(servo_chain(root, read_robot(root), scene), id))


def take_speeds(scene: Scene, root: Object) -> dict[str, float]:
    """Give the robot's joints the speeds of their servos, for bakes to keep to, and tells which [rad/s or m/s].

    Of a joint with several motors the slowest one's.
    """
    mechanism = read_robot(root)
    speeds = {servo.actuator: servo.velocity_limit for servo in servo_chain(root, mechanism, scene).servos}
    told = {j.name: [speeds[name] for name in j.coordinate_names if name in speeds] for j in mechanism.actuated}
    found = {name: min(each) for name, each in told.items() if each}
    for joint in parts(root)["JOINT"]:
        if joint.robik.label in found:
            joint.robik.joint.velocity_limit = found[joint.robik.label]
    return found


def zero_here(scene: Scene, root: Object) -> None:
    """Set the servos' zeros so that every actuator is at 0 in the robot's present pose.

    Raise ServoError if nothing is connected, or torque is on.
    """
    player = play.connected()
    if player.status.torque:
        raise ServoError(
            "torque is on; turn it off and put the robot into the pose in which every motor is at 0 by hand"
        )
    positions = player.chain.exact_counts(np.array(player.status.present))
    here = dict(zip(player.chain.ids, np.rint(positions).astype(int).tolist(), strict=True))
    settings = dict(zip(player.chain.ids, player.status.zero_settings, strict=False))  # none where connecting failed
    keep(scene, setup.with_zeros(servo_chain(root, read_robot(root), scene), here, settings=settings))


def nudge(actuator: str) -> None:
    """Move one actuator by 5° up and back, slowly, so that one sees which way it turns.

    Raise ServoError if the servos do not hold, or it has no room.
    """
    player = play.connected()
    player.play(slow_nudge(player.chain, play.held_pose(), actuator, NUDGE, NUDGE_TIME))
