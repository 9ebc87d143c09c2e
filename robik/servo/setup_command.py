"""The command `robik servos`: scan, set, prepare, torque-off, stop, zero, report."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from ..errors import ServoError
from . import setup
from .chain import load_chain, save_chain
from .controls import controls
from .dynamixel.bus import Bus
from .outside import ask_to_stop
from .recording import load_recording
from .recording_report import amperes, tracking_table, write_report

GLANCE = 0.02  # [s] between looks at the keys


def scan(port: str, baud_rate: int | None = None) -> None:
    """Prints who is on the bus.

    Raises:
        ServoError: the port cannot be opened.
    """
    rates = setup.SCAN_ORDER if baud_rate is None else (baud_rate,)
    with closing(setup.open_bus(port)) as bus:
        found = setup.scan(bus, rates, lambda text: print(text, flush=True))
    for one in found:
        print(
            f"id {one.id:3}  {one.model or f'unknown model {one.number}':12}  firmware {one.firmware}  {one.baud_rate}"
            " baud"
        )
    print(f"{len(found)} servos found" if found else "no servo answers; check the power, the cable and the port")


def change(port: str, id: int, new_id: int | None, new_baud_rate: int | None) -> None:
    """Gives a servo another id or baud rate.

    Raises:
        ServoError: it is not there, or what is asked for is not possible.
    """
    with closing(setup.open_bus(port)) as bus:
        one = _find(bus, id)
        if new_id is not None:
            one = setup.set_id(bus, one, new_id)
        if new_baud_rate is not None:
            one = setup.set_baud_rate(bus, one, new_baud_rate)
        print(f"servo {one.id} answers at {one.baud_rate} baud")


def prepare(port: str, baud_rate: int, is_sure: bool) -> None:
    """Brings all servos to streaming settings, after asking.

    Raises:
        ServoError: one of them does not take it.
    """
    with closing(setup.open_bus(port)) as bus:
        changes = setup.advice(bus, setup.scan(bus, setup.SCAN_ORDER), baud_rate)
        if not changes:
            print("all servos are ready for streaming")
            return
        for item in changes:
            print(item)
        if not is_sure and not _confirm(f"Make these {len(changes)} changes? [y/N] "):
            print("nothing was changed")
            return
        setup.apply(bus, changes)
        print(f"{len(changes)} changes made")


def _confirm(question: str) -> bool:
    """Ask; raises ServoError where nobody can answer."""
    try:
        return input(question).strip().lower() in ("y", "yes")
    except (EOFError, RuntimeError, OSError):  # RuntimeError: the shell closed the standard input
        print()
        raise ServoError(
            "nothing was changed: nobody can answer here; --yes makes the changes without asking"
        ) from None


def torque_off(port: str, baud_rate: int | None = None) -> int:
    """Turn torque off on a bus, first of all and whoever is there, then print what each servo has, as read back.

    Returns:
        0 when every servo that answers has its torque off, 1 otherwise.

    Raises:
        ServoError: the port cannot be opened, or is gone.
    """
    rates = setup.SCAN_ORDER if baud_rate is None else (baud_rate,)
    with closing(setup.open_bus(port, rates[0])) as bus:
        found = setup.torque_off(bus, rates)
    for one, powered in found:
        torque = "does not answer any more" if powered is None else "torque is ON" if powered else "torque is off"
        print(f"id {one.id:3}  {one.model or f'unknown model {one.number}':12}  {one.baud_rate} baud  {torque}")
    if not found:
        print("torque-off was sent, but no servo answers; check the power, the cable and the port")
    return int(not found or any(powered is not False for _, powered in found))


def stop(port: str, is_torque_off: bool, on_key: bool) -> None:
    """Let whatever plays on a port of this user stop softly, or turn torque off at once, and print what became of it.

    Args:
        port: on which; empty for any.
        is_torque_off: whether torque goes off.
        on_key: whether to wait for a key: T turns torque off, any other stops.

    Raises:
        ServoError: nothing plays, or it does not stop.
    """
    if on_key:
        with controls() as pressed:
            print("ESC or space stops the servos, T turns their torque off", flush=True)
            while not (pressed.stops or pressed.pauses or pressed.is_torque_off):
                pressed.look()
                time.sleep(GLANCE)
            is_torque_off = is_torque_off or pressed.is_torque_off
    for said in ask_to_stop(port, is_torque_off):
        print(said)


def zero(port: str, servos_path: str | Path) -> None:
    """Takes the robot's pose, into which it was put by hand, as the one in which every actuator is at 0.

    Raises:
        RobikError: the chain's file, or a servo that does not answer.
    """
    chain = load_chain(servos_path)
    with closing(Bus(chain, port)) as bus:
        made = setup.zeroed(bus)
    save_chain(made, servos_path)
    for before, now in zip(chain.servos, made.servos, strict=True):
        print(f"servo {now.id} ({now.actuator}): zero {before.zero} → {now.zero}")


def report(recording_path: str | Path, output: str | Path) -> None:
    """Writes how well servos followed, and prints the table.

    Raises:
        RobikError: no recording, or the page cannot be written.
    """
    recording = load_recording(recording_path)
    write_report(recording, output)
    for name, mean, worst, lag, hot, current in tracking_table(recording):
        most = f"at most {hot:.0f} °C, {amperes(current)}"
        print(f"{name:20} error {mean:.4f} mean, {worst:.4f} worst; {1e3 * lag:4.0f} ms behind; {most}")


def _find(bus: Bus, id: int) -> setup.Seen:
    found = [one for one in setup.scan(bus, setup.SCAN_ORDER) if one.id == id]
    if len(found) != 1:
        what = "no servo" if not found else f"{len(found)} servos"
        raise ServoError(f"{what} of id {id} on {bus.name}; robik servos scan lists who is there")
    return found[0]
