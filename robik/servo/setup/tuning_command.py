"""The command `robik servos gains`: gains of servos as they are, and others for one of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from ...errors import ServoError
from ..chain.chain import retuned
from ..chain.file import load_chain, save_chain
from ..chain.servo import Servo
from ..play.player import Player
from ..port.status import PlayState

PATIENCE = 20.0  # [s] with servos that do not answer
GLANCE = 0.02  # [s] between looks at the status


def gains(port: str, servos_path: str | Path, id: int | None = None, **entries: Any) -> None:
    """Print the servos' gains as read back; give one of them others first, which go into the chain's file.

    Nothing moves, and torque stays as it is. `entries` are named as in the file, None for those that stay.
    """
    chain, given = load_chain(servos_path), {name: value for name, value in entries.items() if value is not None}
    if given and id is None:
        raise ServoError("--id says which servo gets these gains")
    servo = _changed(next((one for one in chain.servos if one.id == id), None), given, id) if given else None
    with closing(Player(chain, port)) as player:
        player.connect()
        player.wait(PlayState.READY, PlayState.HOLDING)
        player.ask_tunings()
        _wait(player, lambda: len(player.status.tunings))
        if servo is not None:
            before = player.status
            player.tune(servo)
            _wait(player, lambda: player.status.untuned or player.status.tunings is not before.tunings)
        status = player.status
        for one, tuning in zip(player.chain.servos, status.tunings, strict=True):
            print(f"id {one.id:3}  {one.actuator:20} {one.model:12} {tuning}")
    if status.untuned:
        raise ServoError(status.untuned)
    if servo is not None:
        save_chain(retuned(chain, servo), servos_path)
        if servo.tuning_warning:
            print(servo.tuning_warning)


def _changed(servo: Servo | None, given: dict[str, Any], id: int | None) -> Servo:
    if servo is None:
        raise ServoError(f"the chain has no servo {id}")
    return replace(servo, **given)


def _wait(player: Player, condition: Callable[[], object]) -> None:
    ends = monotonic() + PATIENCE
    while not condition():
        if player.status.state is PlayState.FAULT:
            raise ServoError(player.status.message)
        if monotonic() > ends:
            raise ServoError("the servos do not say their gains")
        sleep(GLANCE)
