"""The command `robik`. Bad input ends in one line on stderr and exit code 2."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from . import __version__
from .commands import batch, bench, motions, physics, recordings, rehearsal, retiming, robots, servos, shows, transfer
from .commands.completion import script
from .errors import RobikError

BAD_INPUT = 2
COMMANDS = (  # in the order of the help
    robots.add_inspect,
    robots.add_reach,
    robots.add_convert,
    motions.add_solve,
    recordings.add_retarget,
    batch.add_batch,
    retiming.add_retime,
    motions.add_report,
    motions.add_fk,
    physics.add_physics,
    rehearsal.add_rehearse,
    servos.add_play,
    shows.add_show,
    servos.add_teleoperate,
    servos.add_servos,
    servos.add_simulate,
    motions.add_export,
    transfer.add_transfer,
    bench.add_bench,
    bench.add_warm_up,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    options = _parser().parse_args(arguments)
    options.is_all = arguments is None  # that this process does
    try:
        return options.run(options) or 0
    except RobikError as error:
        print(f"robik: {' '.join(str(error).split())}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has left
        sys.stderr.close()
        return 141


class _Completion(argparse.Action):
    """The option that prints a script for bash."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print(script(parser), end="")
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """A parser that says what is wrong with the call in one line, like every other error."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message}; see {self.prog} --help", file=sys.stderr)
        sys.exit(BAD_INPUT)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="robik", description="Retargets animation onto robots, kinematic loops included.")
    parser.add_argument("--version", action="version", version=f"robik {__version__}")
    what = "print a script that completes its words in bash: source <(robik --completion)"
    parser.add_argument("--completion", action=_Completion, nargs=0, help=what)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in COMMANDS:
        add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
