"""The solver is compiled ahead, once, in a process of its own."""

from __future__ import annotations

from robik.warm_up import warm_up


def test_a_process_of_its_own_compiles_everything_once() -> None:
    process = warm_up()
    assert process is not None
    assert warm_up() is None
    assert process.wait(timeout=1500) == 0
