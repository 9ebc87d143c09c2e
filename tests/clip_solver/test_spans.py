"""Frames that move, and runs of them."""

from __future__ import annotations

import numpy as np

from robik.clip_solver.bounds import differences
from robik.clip_solver.spans import AROUND, REACH, Spans, promising, widened

TIMES = np.arange(200) / 100.0


def test_frames_around_one_that_moves_move_too() -> None:
    frames = np.zeros(200, bool)
    frames[100] = True
    moves = np.flatnonzero(widened(frames, TIMES))
    assert moves[0] == 100 - round(100 * AROUND)
    assert moves[-1] == 100 + round(100 * AROUND)


def test_no_row_reaches_over_a_gap() -> None:
    frames = np.zeros(200, bool)
    frames[[50, 50 + 2 * round(100 * AROUND) + REACH]] = True
    moves = widened(frames, TIMES)
    assert moves[50 : 50 + 2 * round(100 * AROUND) + REACH].all()


def test_runs_are_counted_apart_with_their_own_sums() -> None:
    moves = np.zeros(200, bool)
    moves[10:20] = moves[60:90] = True
    spans = Spans(moves, np.arange(200) - 1, differences(TIMES), True)
    assert spans.count == 2
    assert spans.sums(np.ones(200)).tolist() == [10.0, 30.0]
    assert spans.tied_sums(np.ones(200)).tolist() == [11.0, 31.0], "the frame after a run is tied to its last"


def test_what_is_left_out_gains_less_than_need_be() -> None:
    gains = np.array([0.1, 5.0, 0.2, 0.3, 4.0])
    assert promising(gains, 0.65).tolist() == [False, True, False, False, True]
    assert promising(gains, 0.35).tolist() == [False, True, False, True, True]
