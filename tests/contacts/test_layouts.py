"""Sets of contacts are laid out once per robot, before a clip's first frame."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.bench.cases import NAIVE
from robik.bench.walking import walk_clip
from robik.feet import footing
from robik.feet.contact import hold_of
from robik.feet.footing import build_footing
from robik.ik import standing
from robik.kinematics.rotations import matrices_to_quaternions
from robik.mechanism.model import Mechanism
from robik.retargeting.retarget import Retargeting
from robik.robots import load

FPS = 30.0


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """Count layouts of sets of contacts, and solvers on them."""
    counted: Counter[str] = Counter()

    def counting(module: object, name: str) -> None:
        original = getattr(module, name)

        def made(*arguments: object) -> object:
            counted[name] += 1
            return original(*arguments)

        monkeypatch.setattr(module, name, made)

    counting(footing, "lay_out")
    counting(standing, "Solver")
    return counted


def walked(robot: Mechanism) -> Retargeting:
    """Return the retargeting of the walker's walk on feet that are held, before its first frame."""
    return Retargeting(robot, walk_clip(robot, FPS, balanced=False), replace(NAIVE, contacts="hold"))


def test_no_set_of_contacts_is_laid_out_on_the_way(made: Counter[str]) -> None:
    retargeting = walked(load("walker"))
    frames = retargeting.frame_by_frame()
    next(frames)
    before = made.copy()
    stands = [track.contact for track in retargeting.clip.tracks.values() if track.contact is not None]
    assert np.any([np.diff(contact[16:]).any() for contact in stands])  # after the first chunk contacts still change
    for _ in frames:
        pass
    assert before["lay_out"] == before["Solver"] == 4  # left, right, and both from either
    assert made == before


def test_a_robot_is_laid_out_once_for_all_its_clips(made: Counter[str]) -> None:
    robot = load("walker")
    first = walked(robot).run()
    laid_out = made["lay_out"]
    again = walked(robot).run()
    assert made["lay_out"] == laid_out > 0
    assert (again.values == first.values).all()


def test_two_clips_of_a_robot_share_no_place() -> None:
    robot = load("walker")
    holds = [hold_of(robot, name, True) for name in ("foot_l", "foot_r")]
    one, other = build_footing(robot, holds), build_footing(robot, holds)
    flat = other.topology.flat
    before = flat.from_parent_p.copy(), flat.cut_pa.copy(), flat.row_u.copy(), flat.faced_u.copy()
    turn = Rotation.from_rotvec([0.1, 0.2, 0.3]).as_matrix()
    for contact in range(2):
        one.put(contact, np.array([1.0, 2.0, 3.0]), turn)
    after = flat.from_parent_p, flat.cut_pa, flat.row_u, flat.faced_u
    assert all((a == b).all() for a, b in zip(before, after, strict=True))
    assert (one.topology.flat.cut_pa[one.places[1].cut] == (1.0, 2.0, 3.0)).all()


def test_what_is_kept_with_a_robot_is_not_pickled() -> None:
    robot = load("walker")
    pickled = pickle.dumps(robot)
    build_footing(robot, [hold_of(robot, "foot_l", True)])
    again = pickle.dumps(robot)
    assert len(again) < 1.1 * len(pickled)
    assert pickle.loads(again) == robot


def test_quaternions_of_matrices_are_scipys_to_the_last_bit() -> None:
    turns = Rotation.random(2000, random_state=0) * Rotation.from_rotvec([1e-9, 0.0, 0.0])
    matrices = np.concatenate([turns.as_matrix(), np.eye(3)[None], np.diag([1.0, -1.0, -1.0])[None]])
    found = np.zeros((len(matrices), 4))
    matrices_to_quaternions(matrices, found)
    assert (found == Rotation.from_matrix(matrices).as_quat()[:, [3, 0, 1, 2]]).all()
