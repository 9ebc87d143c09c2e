"""Commands about the solver on this machine: bench, warm-up."""

from __future__ import annotations

import argparse
import json

from .arguments import command


def add_bench(commands: argparse._SubParsersAction) -> None:
    """Add the command `bench`."""
    parser = command(commands, "bench", _bench, "time per frame of the solver on the robots that ship, on this machine")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def add_warm_up(commands: argparse._SubParsersAction) -> None:
    """Add the command `warm-up`."""
    command(commands, "warm-up", _warm_up, "compile the solver now, once for this machine, so that nothing waits later")


def _bench(options: argparse.Namespace) -> None:
    from ..bench import print_table, run

    found = run()
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        print_table(found)


def _warm_up(options: argparse.Namespace) -> None:
    from ..jit import compiled_functions
    from ..jit.cache import folder
    from ..warm_up.ahead import compile_all
    from ..warm_up.processes import wait_for_help

    compile_all()
    wait_for_help()
    done = compiled_functions()
    print(f"{done} functions compiled, kept in {folder()}" if done else "nothing to compile: all of it is there")
