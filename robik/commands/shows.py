"""Command about shows: show."""

from __future__ import annotations

import argparse

from .arguments import command
from .numbers import APPROACH, GOALS


def add_show(commands: argparse._SubParsersAction) -> None:
    """Add the command `show`."""
    text = "play several robots and a sound by one clock; space pauses, N begins the next act, ESC stops all"
    parser = command(commands, "show", _show, text)
    parser.add_argument("show", metavar="SHOW.json")
    parser.add_argument("--check", action="store_true", help="say what would play and what is wrong; opens no port")
    parser.add_argument("--sim", action="store_true", help="all robots on simulated servos")
    parser.add_argument("--silent", action="store_true", help="without the sound")
    osc = "take OSC messages such as /robik/act NAME at this UDP port; HOST:PORT lets other computers send them, too"
    parser.add_argument("--osc", metavar="PORT", default="", help=osc)
    soften = "round off what the motors cannot do, and go slowly to a start far away, instead of refusing"
    parser.add_argument("--soften", action="store_true", help=soften)
    lost = "play on where the motors lose hold of a robot that the show names, instead of refusing"
    parser.add_argument("--lose-hold", action="store_true", help=lost)
    parser.add_argument("--rate", type=GOALS, default=100.0, help="goals per second (default 100)")
    parser.add_argument(
        "--approach", type=APPROACH, default=0.5, help="speed on the way to the first frame and between acts [rad/s]"
    )
    parser.add_argument(
        "--torque", choices=("on", "off"), default="on", help="how to leave the servos at the end (default on)"
    )


def _show(options: argparse.Namespace) -> int:
    from ..servo.port.status import PlaySettings
    from ..show.command import Asked, show

    asked = Asked(options.check, options.sim, options.silent, options.soften, options.osc, options.lose_hold)
    torque = options.torque == "on"
    return show(
        options.show,
        asked,
        PlaySettings(rate=options.rate, approach_speed=options.approach, torque_after=torque),
    )
