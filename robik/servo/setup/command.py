"""The command `robik servos`: models, scan, set, prepare, torque-off, stop, zero, report."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from ...errors import ServoError
from ..brands.registry import DEFAULT, brand_of
from ..brands.workshop import Workshop
from ..bus.emergency import PASSING, Emergency
from ..bus.telemetry import Seen
from ..chain.file import load_chain, save_chain
from ..chain.port_name import SIMULATED
from ..play.controls import controls
from ..port.outside import Held, Holder, ask_to_stop, holders
from ..port.recording import load_recording
from ..port.users import users_words
from . import setup
from .recording_report import amperes, tracking_table, write_report

GLANCE = 0.02  # [s] between looks at the keys


def models(brand: str = DEFAULT.name) -> None:
    """Print the models of a brand, where a user adds one, and what is wrong with those that were added."""
    made = brand_of(brand)
    for name in sorted(made.models):
        print(name if made.models[name].is_playable else f"{name}  (its torque can be cut, but it is not played)")
    if made.folder:
        print(f"a data file in {made.folder} adds a model; docs/servo-models.md says how")
    for problem in made.problems:
        print(f"left out: {problem}")


def scan(port: str, baud_rate: int | None = None, brand: str = DEFAULT.name) -> None:
    """Print who is on the bus; the likely baud rates [bit/s] are asked if none is given."""
    rates = None if baud_rate is None else (baud_rate,)
    with closing(setup.open_workshop(port, brand=brand)) as workshop:
        found = workshop.scan(rates, lambda text: print(text, flush=True))
    for one in found:
        print(f"id {one.id:3}  {one.words}")
    other, words = "", ""
    if not any(one.model for one in found):
        other, words = setup.other_brand(port, brand, lambda text: print(text, flush=True))
    if other:
        print(f"{words}; add --brand {other}")
    else:
        print(f"{len(found)} servos found" if found else "no servo answers; check the power, the cable and the port")


def change(port: str, id: int, new_id: int | None, new_baud_rate: int | None, brand: str = DEFAULT.name) -> None:
    """Give a servo another id or baud rate [bit/s]; None leaves one as it is."""
    with closing(setup.open_workshop(port, brand=brand)) as workshop:
        one = _find(workshop, id)
        if new_id is not None:
            one = workshop.set_id(one, new_id)
        if new_baud_rate is not None:
            one = workshop.set_baud_rate(one, new_baud_rate)
        print(f"servo {one.id} answers at {one.baud_rate} baud")


def prepare(port: str, baud_rate: int | None, is_sure: bool, brand: str = DEFAULT.name) -> None:
    """Bring all servos to streaming settings, after asking; those that cannot be played are left as they are.

    The baud rate [bit/s] is the brand's for playing if left out. With `is_sure` it does not ask.
    """
    with closing(setup.open_workshop(port, brand=brand)) as workshop:
        found = workshop.scan()
        for misfit in (misfits := workshop.unfit(found)):
            print(misfit)
        changes = workshop.advice(found, baud_rate or brand_of(brand).streaming_baud)
        if not changes:
            print(f"all {'others' if misfits else 'servos'} are ready for streaming")
            return
        for item in changes:
            print(item)
        if not is_sure and not _confirm(f"Make these {len(changes)} changes? [y/N] "):
            print("nothing was changed")
            return
        workshop.apply(changes)
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


def torque_off(port: str, baud_rate: int | None = None, brand: str = DEFAULT.name) -> int:
    """Turn torque off on a bus, whoever is there, print it for each servo as read back, and return the exit code.

    It is 0 when every servo that answers has its torque off, else 1. A program that plays with RobIK on that port
    has it for itself: then that one is told, and does it at once. The likely baud rates are asked if none is given.
    """
    if holders(port):
        return _ask_to_stop(port, is_torque_off=True)
    return _cut(Held(port, brand, baud_rate))


def _cut(held: Held, hung: Holder | None = None) -> int:
    """Turn torque off on a bus from here, beside whoever holds it, and print what came of it."""
    rates = brand_of(held.brand).likely_bauds if held.baud_rate is None else (held.baud_rate,)
    emergency = Emergency()
    emergency.let_pass(0.0 if hung else PASSING)
    with closing(setup.open_workshop(held.port, rates[0], held.brand, emergency)) as workshop:
        found = workshop.torque_off(rates)
    if emergency.has_passed:
        holder = f"{hung.process}, which does not react" if hung else users_words(held.port)
        print(f"{held.port} is held by {holder}; torque-off went out beside it")
    for one, powered in found:
        torque = "does not answer any more" if powered is None else "torque is ON" if powered else "torque is off"
        print(f"id {one.id:3}  {one.words}  {torque}")
    if not found:
        print("torque-off was sent, but no servo answers; check the power, the cable and the port")
    return int(not found or any(powered is not False for _, powered in found))


def stop(port: str, is_torque_off: bool, on_key: bool) -> int:
    """Stop softly whatever this user plays on a port, or turn its torque off at once, and print the result.

    An empty port is every port. With `on_key` it waits for a key: T turns torque off, any other stops. Return 0, or
    1 where torque was to go off and a servo did not confirm it.
    """
    if on_key:
        with controls() as pressed:
            print("ESC or space stops the servos, T turns their torque off", flush=True)
            while not (pressed.stops or pressed.pauses or pressed.is_torque_off):
                pressed.look()
                time.sleep(GLANCE)
            is_torque_off = is_torque_off or pressed.is_torque_off
    return _ask_to_stop(port, is_torque_off)


def _ask_to_stop(port: str, is_torque_off: bool) -> int:
    told = ask_to_stop(port, is_torque_off)
    answered = [holder for holder in told if not holder.is_hung]
    for holder in answered:
        print(f"{holder.name}: {holder.state}")
    code = int(is_torque_off and not all(holder.is_off for holder in answered))
    served = {device for holder in answered for device in holder.devices}
    for holder in told:
        if holder.is_hung and not served.issuperset(holder.devices):
            code |= _cut_beside(holder, served)
            served.update(holder.devices)
    return code


def _cut_beside(hung: Holder, served: set[str]) -> int:
    """Turn torque off on the ports of a program that hangs, but for those that another has seen to."""
    codes, failed = [0], list[str]()
    for held, device in zip(hung.ports, hung.devices, strict=True):
        if device == SIMULATED:
            print(f"{hung.process}, which does not react, plays on simulated servos, whose torque ends with it")
        elif device not in served:
            try:
                codes.append(_cut(held, hung))
            except ServoError as error:
                failed.append(str(error))
    if failed:
        raise ServoError(f"{'; '.join(failed)}; if {hung.process} still runs, end it and try again, or switch off")
    return max(codes)


def zero(port: str, servos_path: str | Path) -> None:
    """Set the zeros in a chain's file so that every actuator is at 0 in the pose in which the robot now stands."""
    chain = load_chain(servos_path)
    made = setup.zeroed(chain, port)
    save_chain(made, servos_path)
    for before, now in zip(chain.servos, made.servos, strict=True):
        print(f"servo {now.id} ({now.actuator}): zero {before.zero} → {now.zero}")


def report(recording_path: str | Path, output: str | Path) -> None:
    """Write how well servos followed in a recording as a page, and print the table."""
    recording = load_recording(recording_path)
    write_report(recording, output)
    for name, mean, worst, lag, hot, current in tracking_table(recording):
        most = f"at most {hot:.0f} °C, {amperes(current)}"
        print(f"{name:20} error {mean:.4f} mean, {worst:.4f} worst; {1e3 * lag:4.0f} ms behind; {most}")


def _find(workshop: Workshop, id: int) -> Seen:
    found = [one for one in workshop.scan() if one.id == id]
    if len(found) != 1:
        what = "no servo" if not found else f"{len(found)} servos"
        raise ServoError(f"{what} of id {id} on {workshop.name}; robik servos scan lists who is there")
    return found[0]
