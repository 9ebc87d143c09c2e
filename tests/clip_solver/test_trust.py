"""How far each frame may go, after what the step before has brought."""

from __future__ import annotations

import numpy as np

from robik import Settings, load
from robik.clip_solver.program import Step
from robik.clip_solver.trust import BESIDE, FLATTEST, NARROWEST, RADIUS, SHRINKS, Trust
from robik.ik.solver import Solver

FRAMES, BAD = 20, 7
PROMISED = np.full(FRAMES, 1.0)
EVERY = np.ones(FRAMES, bool)


def trust() -> Trust:
    return Trust(Solver(load("arm7"), (), Settings()).flat, FRAMES, 1e-9)


def step() -> Step:
    return Step(np.zeros((FRAMES, 7)), PROMISED, np.zeros(0), True)


def rise(*, at_bad: float) -> np.ndarray:
    """Return objectives that fell as promised, but in one frame."""
    found = -PROMISED
    found[BAD] = at_bad
    return found


def test_a_frame_with_a_poor_model_and_those_beside_it_go_less_far() -> None:
    judged = trust()
    judged.learn(step(), rise(at_bad=5.0), EVERY, 0.1)
    reach = judged.radius()[:, 0] / RADIUS
    near = np.abs(np.arange(FRAMES) - BAD) <= BESIDE
    assert (reach[near] == SHRINKS).all() and (reach[~near] == 1.0).all()
    for _ in range(20):
        judged.learn(step(), rise(at_bad=5.0), EVERY, 0.1)
    assert judged.radius()[BAD, 0] == NARROWEST * RADIUS, "it never stands still for good"


def test_it_goes_further_again_when_the_model_is_right() -> None:
    judged = trust()
    judged.learn(step(), rise(at_bad=5.0), EVERY, 0.1)
    assert judged.is_narrow
    for _ in range(2):
        judged.learn(step(), -PROMISED, EVERY, 1.0)
    assert not judged.is_narrow


def test_no_frame_is_held_back_where_its_span_brought_enough() -> None:
    judged = trust()
    judged.learn(step(), rise(at_bad=5.0), ~EVERY, 0.9)
    assert not judged.is_narrow


def test_curvature_downwards_counts_less_while_steps_bring_more_than_they_promise() -> None:
    judged, counted = trust(), []
    for fulfilled in (2.0, 1.0, 2.0, 2.0, 2.0, 2.0, 0.2):
        judged.learn(step(), -PROMISED, ~EVERY, fulfilled)
        counted.append(judged.concave)
    assert counted == [0.5, 0.5, 0.25, 0.125, FLATTEST, FLATTEST, 1.0]


def test_a_step_is_shortened_frame_by_frame() -> None:
    judged = trust()
    model = type("Model", (), {"independent": np.tile(np.arange(7), (FRAMES, 1))})
    dz = np.full((FRAMES, 7), 0.1)
    dz[3, 2] = 4 * RADIUS
    found = judged.within(model, dz)
    assert np.allclose(found[3], dz[3] / 4) and (np.delete(found, 3, 0) == np.delete(dz, 3, 0)).all()
