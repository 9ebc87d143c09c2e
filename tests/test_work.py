"""The work that clips take has not grown: a regression shows without a clock."""

from __future__ import annotations

import pytest

from robik.retargeting import retarget
from tools import work


def test_no_clip_takes_more_work_than_is_stored() -> None:
    found, known = work.counted(), work.stored()
    assert found.keys() == known["clips"].keys()
    assert not work.regressions(found, known), "if it is meant: python -m tools.work --write"


def test_frames_that_are_solved_one_by_one_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retarget, "CHUNK", 1)
    monkeypatch.setattr(retarget, "MOST", 1)
    name = "ur10, 24 frames, five times"
    told = work.regressions({name: work.counts(work.clips()[name])}, work.stored())
    assert any("calls into kernels" in sentence for sentence in told)


def test_more_of_a_kind_is_told_beyond_the_tolerance() -> None:
    known = {"python": work.PYTHON, "clips": {"a": {"iterations": 100, "calls in Python": 1000}}}
    assert not work.regressions({"a": {"iterations": 110, "calls in Python": 1100}}, known)
    assert len(work.regressions({"a": {"iterations": 120, "calls in Python": 1300}}, known)) == 2
    assert not work.regressions({"a": {"iterations": 100, "calls in Python": 1300}}, known | {"python": "2.7"})
