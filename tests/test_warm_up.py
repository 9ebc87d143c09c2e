"""The solver is compiled ahead, once, in a process of its own."""

from __future__ import annotations

from numba import njit
from numba.core import event

from robik.warm_up import is_compiling, warm_up


def test_a_process_of_its_own_compiles_everything_once() -> None:
    process = warm_up()
    assert process is not None
    assert warm_up() is None
    assert process.wait(timeout=1500) == 0


def test_compiling_is_told_while_it_lasts() -> None:
    told = []

    class Listening(event.Listener):
        def on_start(self, event: event.Event) -> None:
            told.append(is_compiling())

        def on_end(self, event: event.Event) -> None:
            pass

    assert not is_compiling()
    with event.install_listener("numba:compile", Listening()):
        assert njit(lambda x: x + 1)(1) == 2
    assert told
    assert all(told)
    assert not is_compiling()
