"""The command `bench`: how fast the solver is here."""

from __future__ import annotations

import argparse
import json

from .arguments import command


def add_bench(commands: argparse._SubParsersAction) -> None:
    """Add the command `bench`."""
    parser = command(commands, "bench", _bench, "time per frame of the solver on the robots that ship, on this machine")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _bench(options: argparse.Namespace) -> None:
    from ..bench import print_table, run

    found = run()
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        print_table(found)
