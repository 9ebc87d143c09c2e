"""An hour of goals beside a Blender that bakes in a loop: what is dropped, against what a bare clock drops meanwhile.

`python -m tests.servo.hour` takes an hour and prints the figures. The chain is the independent one, with the twelve
servos of the walker; Blender has the built zip installed, connects and plays by the extension, in a loop, and bakes the
walker over and over. The bare clock is a process that does nothing but sleep from deadline to deadline, with the
player's own priority: the machine itself keeps no better time. Others like it stay on one core each, since a core that
the host of a virtual machine takes away stops whoever was there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from robik.robots import path
from robik.servo.bus.schedule import Schedule, take_precedence
from robik.servo.chain.file import load_chain
from tests.servo.independent import IndependentChain

ROOT = Path(__file__).resolve().parents[2]
RATE = 100.0  # [Hz]
CORE_RATE = 500.0  # [Hz], of the bare clocks that stay on one core each: they see what one core alone suffers
LATE = 0.005  # [s] from which a tick of a bare clock is late: half a period of the player
STALL = 5.0  # [s] of Blender that are borne here: others use the machine, too
PATIENT = {"watchdog": 1.5, "silence": 1.5}  # [s]: and a pseudo-terminal comes late where cores are wanted by others
FRAMES = 300  # of a bake
KEPT = 2  # bakes
SETTLING = 20.0  # [s] that the bare clock goes on after the player
TOGETHER = 0.02  # [s] between a dropped goal and a late tick of a bare clock, for one cause to be behind both
SYNC_WRITE = 0x83
STATUS = ("sent", "dropped", "looks", "lateness_p99", "lateness_p999", "lateness_worst")


def tick(seconds: float, rate: float, core: int | None = None) -> None:
    """Be a bare clock: print when [s] its ticks came, how late [s], and how many were dropped just before each.

    Args:
        seconds: how long.
        rate: of ticks [Hz].
        core: to stay on; None for any.
    """
    ticks: list[tuple[float, float, int]] = []
    schedule = Schedule(rate)

    def run() -> None:
        take_precedence()
        if core is not None:
            os.sched_setaffinity(0, {core})
        schedule.start()
        began, dropped = time.monotonic(), 0
        while (number := schedule.wait()) < rate * seconds:
            now = time.monotonic()
            late = now - began - number / rate
            if core is None or late > LATE:
                ticks.append((now, late, schedule.dropped - dropped))
            dropped = schedule.dropped
            schedule.done()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    print(json.dumps(ticks), flush=True)


def blend(port: str, seconds: float) -> None:
    """Be Blender: connect, torque on, play in a loop, and bake in a loop meanwhile; print how it stands."""
    from tools.installed import add_on, installed_extension

    with installed_extension():
        import bpy

        from tests.blender import scenes

        scenes.begin()
        scene, root = bpy.context.scene, scenes.add_squats(frames=FRAMES)
        play, state = add_on("scene.servos.play"), add_on("robik.servo.port.status").PlayState
        heartbeat = add_on("scene.long_work.heartbeat")
        bake_steps = add_on("scene.bake.baking").bake_steps
        bpy.ops.robik.bake()
        scene.robik.servos = str(path("walker").with_name("walker.servos.json"))
        scene.robik.port = port
        scene.robik.playing.loop, scene.robik.playing.stall = True, STALL
        settings_of = play.settings_of
        play.settings_of = lambda scene: replace(settings_of(scene), **PATIENT)
        bpy.ops.robik.connect_servos()
        player = play.player()
        motion = play.motion_to_play(root, scenes.read(root), scene, player.chain)[0]
        began, bakes, totals = time.monotonic(), 0, dict.fromkeys(STATUS, 0)
        stops: list[tuple[float, str]] = []
        drops: list[tuple[float, int]] = []
        publish = player._board.publish

        def noted(**said: object) -> None:  # by the thread that listens to the player: no message is lost to a stall
            before = player.status.dropped
            publish(**said)
            if player.status.dropped > before:
                drops.append((player.status.dropped_at, player.status.dropped - before))

        player._board.publish = noted
        gap = [0.0, time.monotonic()]  # the longest between two beats [s], and when the last one was

        def beat() -> None:
            now = time.monotonic()
            gap[:] = max(gap[0], now - gap[1]), now
            player.heartbeat()

        heartbeat.tell(beat)

        def turn() -> None:
            beat()
            play.tick(scene)

        print(json.dumps({"began": began}), flush=True)
        while time.monotonic() - began < seconds:
            status = player.status
            if not status.state.is_moving:
                if status.sent:
                    stops.append((time.monotonic(), status.message))
                    _add(totals, status)
                if status.state is not state.HOLDING:
                    bpy.ops.robik.torque_servos(on=True)
                player.play(motion, loop=True, from_afar=True)
            for _ in bake_steps(bpy.context, root):  # as a window does it: a beat after each step
                turn()
            while len(root.robik.robot.bakes) > KEPT:  # else thousands of bakes fill the memory
                bpy.ops.robik.remove_bake(index=0)
            for action in [action for action in bpy.data.actions if not action.users]:
                bpy.data.actions.remove(action)
            bakes += 1
        ended = time.monotonic()
        _add(totals, player.status)
        player.stop()
        player.wait(state.HOLDING)
        bpy.ops.robik.disconnect_servos()
        told: dict[str, Any] = {"began": began, "ended": ended, "bakes": bakes}
        told |= {"stops": stops, "drops": drops}
        told["beats_apart"] = gap[0]
        print(json.dumps(told | totals), flush=True)
        sys.stdout.flush()
        os._exit(0)


def _add(totals: dict[str, Any], status: Any) -> None:
    for name in STATUS:
        value = getattr(status, name)
        totals[name] = max(totals[name], value) if name.startswith("lateness") else totals[name] + value


def measure(seconds: float) -> dict[str, Any]:
    """Return the figures of a show of so many seconds."""
    chain = load_chain(path("walker").with_name("walker.servos.json"))
    with closing(IndependentChain(ids=chain.ids, model=1010, brief=True)) as servos:
        blender = _role("blender", servos.port, str(seconds))
        assert blender.stdout is not None
        lines = iter(blender.stdout.readline, "")
        next(line for line in lines if line.startswith('{"began"'))
        clocks = [_role("clock", str(seconds + SETTLING), str(RATE))]
        cores = sorted(os.sched_getaffinity(0))
        clocks += [_role("clock", str(seconds + SETTLING), str(CORE_RATE), str(core)) for core in cores]
        told = json.loads(next(line for line in lines if line.startswith('{"began"')))
        bare, *others = [np.array(json.loads(clock.communicate()[0])).reshape(-1, 3) for clock in clocks]
        on_cores = [
            np.column_stack([ticks, np.full(len(ticks), core)]) for ticks, core in zip(others, cores, strict=True)
        ]
        blender.wait()
        sent = np.array([one.arrived for one in servos.log.packets(told["began"]) if one.instruction == SYNC_WRITE])
    if len(sent) < 2:
        raise RuntimeError(f"nothing was played: {told}")
    return _judged(told, bare, np.concatenate(on_cores), sent)


def _judged(told: dict[str, Any], bare: np.ndarray, on_cores: np.ndarray, sent: np.ndarray) -> dict[str, Any]:
    """Hold what Blender `told` against the bare clocks.

    Args:
        told: of the player: its figures, and when [s] it dropped how many goals.
        bare: ticks (M, 3) of the bare clock.
        on_cores: late ticks (L, 4) of those that stay on a core each: as those, and on which.
        sent: when goals arrived at the servos (K,) [s].
    """
    began, ended = told["began"], told["ended"]
    bare = bare[(bare[:, 0] >= began) & (bare[:, 0] <= ended)]
    on_cores = on_cores[(on_cores[:, 0] >= began) & (on_cores[:, 0] <= ended)]
    disturbed = np.concatenate([on_cores[:, 0], bare[bare[:, 1] > LATE, 0]])
    drops = [(when, many, nearest(disturbed, when)) for when, many in told["drops"]]
    gaps = np.diff(sent[sent <= ended])
    return {
        "seconds": ended - began,
        "bakes": told["bakes"],
        "stops": told["stops"],
        "beats_apart_at_most": told["beats_apart"],
        **{f"player_{name}": told[name] for name in STATUS},
        "player_drops_with_the_nearest_late_tick": [(round(when - began, 2), many, away) for when, many, away in drops],
        "dropped_while_every_bare_clock_was_in_time": sum(many for _, many, away in drops if away > TOGETHER),
        "bare_ticks": len(bare),
        "bare_dropped": int(bare[:, 2].sum()),
        "bare_late_p99_p999_worst": [*np.percentile(bare[:, 1], (99, 99.9)), bare[:, 1].max()],
        "bare_late_by_half_a_period": int((bare[:, 1] > LATE).sum()),
        "late_by_that_on_a_core": len(on_cores),
        "dropped_at_this_rate_on_the_cores": [
            int((on_cores[on_cores[:, 3] == core, 1] * RATE).astype(int).sum())
            for core in sorted(set(on_cores[:, 3].tolist()))
        ],
        "gaps_of_two_periods_at_the_servos": int((gaps > 2.0 / RATE).sum()),
    }


def nearest(times: np.ndarray, when: float) -> float:
    """Return how far [s] the nearest of some times (K,) is; infinite where there is none."""
    return round(float(np.abs(times - when).min()), 3) if len(times) else inf


def _role(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.servo.hour", *words], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def main() -> None:
    """Measure, or be one of the processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("role", nargs="*", default=["measure"])
    parser.add_argument("--seconds", type=float, default=3600.0)
    options = parser.parse_args()
    role, *rest = options.role
    if role == "blender":
        blend(rest[0], float(rest[1]))
    elif role == "clock":
        tick(float(rest[0]), float(rest[1]), *map(int, rest[2:]))
    else:
        print(json.dumps(measure(options.seconds), indent=2))


if __name__ == "__main__":
    main()
