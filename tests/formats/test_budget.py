"""The limit of time that an assembly keeps, and what it says when the time is over."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread
from time import perf_counter, thread_time

import pytest

from robik.budget import Budget, within
from robik.errors import AssemblyError
from robik.formats import import_robot
from tests.formats import mjcf_text
from tests.formats.mjcf_text import hopeless


def test_an_assembly_ends_when_its_time_is_over(tmp_path: Path) -> None:
    path, start = hopeless(tmp_path, links=40, chains=6), thread_time()
    with (
        within(Budget(seconds=1.0)),
        pytest.raises(AssemblyError, match=r"cannot be assembled within 1 s: loop .* stays open by .* mm"),
    ):
        import_robot(path)
    assert thread_time() - start < 1.0 + 5.0 + 4.0  # the loops, the remedies, all else


def test_what_nobody_waits_for_stops_soon_and_tells_how_far_it_is(tmp_path: Path) -> None:
    path, unwanted, told, ended = hopeless(tmp_path, links=40, chains=6), Event(), [], []

    def work() -> None:
        with within(Budget(is_unwanted=unwanted.is_set, tell=told.append)):
            try:
                import_robot(path)
            except AssemblyError as error:
                ended.append(str(error))

    thread = Thread(target=work)
    thread.start()
    while not told and thread.is_alive():
        thread.join(0.01)
    unwanted.set()
    start = perf_counter()
    thread.join(60)
    assert told[0].startswith("Closing loops: start 1 of 12, open by ")
    assert len(ended) == 1
    assert perf_counter() - start < 10


def test_a_robot_that_closes_in_time_is_the_same_under_any_limit(tmp_path: Path) -> None:
    path = mjcf_text.write(
        tmp_path, mjcf_text.FOURBAR, '<equality><connect body1="rod" body2="rocker" anchor="1.7 0.1 -0.2"/></equality>'
    )
    free = import_robot(path).mechanism
    with within(Budget(seconds=5.0)):
        assert import_robot(path).mechanism == free
