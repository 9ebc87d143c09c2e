"""Long work as generators of steps: a window drives them one by one, everything else at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import bpy

from ...robik.jit import is_compiling
from ...robik.warm_up import status, warm_up

Result = TypeVar("Result")


@dataclass(frozen=True)
class Progress:
    """Progress of work.

    Attributes:
        fraction: 0 to 1; None where nobody can say.
        text: what is being done.
        is_long: before a step that cannot be cut up, so that it is shown first.
        counts: whether it takes as long the next time; else no estimate is made of it.
        is_apart: whether it needs nothing of Blender meanwhile, so that the scene may be looked at and played.
    """

    fraction: float | None
    text: str
    is_long: bool = False
    counts: bool = True
    is_apart: bool = False


def starting(text: str, fraction: float | None = None) -> Progress:
    """Return what is being done, or that it has to wait for the compiler, which happens once."""
    compiling = "; ".join(filter(None, ("Compiling the solver, once and for all robots", compiling_problem())))
    return Progress(fraction, compiling if is_compiling() else text, counts=False)


def compile_ahead() -> None:
    """Compile the solver for this CPU in the background, so that sliders and the first bake need not wait."""
    if not bpy.app.background:
        warm_up()


def compiling_problem() -> str:
    """Return why the solver could not be compiled ahead, in one line; empty if nothing went wrong."""
    ahead = status()
    return f"Compiling ahead failed: {ahead.line}" if ahead.state == "failed" else ""


def in_thread(steps: Iterator[Result], wait: float = 0.002) -> Iterator[Result | None]:
    """Run steps that never touch Blender on a thread of their own, and raise what they raise.

    The window stays alive between and within them: until they are done, the last yield of the steps is yielded
    again and again, None before the first. Each look at the thread may take `wait` [s]. Closed early, the steps are
    left at their next yield.
    """
    seen: list[Result | None] = [None]
    failed: list[BaseException] = []
    unwanted = threading.Event()

    def work() -> None:
        try:
            for step in steps:
                seen[0] = step
                if unwanted.is_set():
                    return
        except BaseException as error:  # handed to whoever waits
            failed.append(error)

    thread = threading.Thread(target=work, name="robik", daemon=True)
    thread.start()
    try:
        alive = True
        while alive:
            thread.join(wait)
            alive = thread.is_alive()
            yield seen[0]
    finally:
        unwanted.set()
    if failed:
        raise failed[0]
