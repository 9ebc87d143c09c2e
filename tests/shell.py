"""The command `robik`, in this process: one of its own takes longer to start than most commands to run."""

from __future__ import annotations

import io
import subprocess
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

from robik import program
from robik.cli import main


class Done(NamedTuple):
    """Outcome of a command."""

    returncode: int
    stdout: str
    stderr: str


def robik(folder: Path, *arguments: str) -> Done:
    """Run a command in a folder."""
    out, error = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(error):
        try:
            code = main(arguments)
        except SystemExit as left:  # as argparse leaves
            code = int(left.code or 0)
    return Done(code, out.getvalue(), error.getvalue())


def robik_apart(folder: Path, *arguments: str) -> Done:
    """Run a command in a folder and a process of its own, whose log goes to stderr as in a shell."""
    command, own = program.command("cli", *arguments), program.environment()
    done = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)
