"""The command `python -m experiments`: lists the experiments, or runs one."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import NoReturn

from experiments.catalogue import CATALOGUE, load
from experiments.experiment import Experiment, plain, tell, telling

COMMAND = "python -m experiments"
BAD_INPUT = 2


class _Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message}; see {self.prog} --help", file=sys.stderr)
        sys.exit(BAD_INPUT)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run an experiment, or list them; return the exit code."""
    name, *rest = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if name in ("-h", "--help"):
        print(_listing())
        return 0
    if name not in CATALOGUE:
        return _refuse(f"there is no experiment {name!r}; there are {', '.join(CATALOGUE)}")
    try:
        experiment = load(name)
    except ModuleNotFoundError as error:
        return _refuse(f"{name} needs the Python package {error.name!r}, which is not installed in {sys.prefix}")
    options = _parser(name, experiment).parse_args(rest)
    values = experiment.values(vars(options), options.full)
    tell(" ".join([name, *(f"--{key} {value}" for key, value in values.items())]))
    with telling():
        found = plain(experiment.run(**values))
    tell(f"{name}: done")
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        experiment.show(found)
    return 0


def _listing() -> str:
    lines = [f"{name:20}{line}" for name, (_, line) in CATALOGUE.items()]
    return "\n".join([f"{COMMAND} NAME [--json] [--full]; NAME --help lists its parameters", "", *lines])


def _parser(name: str, experiment: Experiment) -> argparse.ArgumentParser:
    parser = _Parser(prog=f"{COMMAND} {name}", description=CATALOGUE[name][1])
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--full", action="store_true", help="the sizes of the published figures, however long they take"
    )
    for key, (default, full) in experiment.parameters.items():
        sizes = f"default {default!r}" if full == default else f"default {default!r}, with --full {full!r}"
        parser.add_argument(f"--{key}", type=type(default), help=sizes)
    return parser


def _refuse(sentence: str) -> int:
    print(f"{COMMAND}: {sentence}", file=sys.stderr)
    return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
