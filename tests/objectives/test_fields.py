"""What follows from the fields of an objective: its keys, its arrays, its checks, its place in the solver's sums."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robik import robots
from robik.clips.clip import load_clip
from robik.errors import ClipError
from robik.objectives import asked as room
from robik.objectives.above import Above
from robik.objectives.asked import ASKED, Asked
from robik.objectives.clearance import Clearance
from robik.objectives.distance import Distance
from robik.objectives.fields import Field, T
from robik.objectives.keys import KeyForm
from robik.objectives.look_at import LookAt
from robik.objectives.objective import Objective
from robik.objectives.posture import Posture
from robik.objectives.rows import Row

DERIVED = ("key", "layout", "bodies", "arrays", "take", "part", "fill")


@pytest.mark.parametrize("kind", ASKED)
def test_no_kind_writes_by_hand_what_follows_from_its_fields(kind: type[Objective]) -> None:
    by_hand = [name for each in kind.__mro__ if each is not Objective for name in vars(each) if name in DERIVED]
    assert by_hand == []


def test_a_field_cannot_take_the_place_of_what_a_table_has() -> None:
    class Misnamed(LookAt):
        FIELDS = (Field("point", (T, 3), "m"),)

    with pytest.raises(TypeError, match="Misnamed: its table has another point; give the field a column"):
        Misnamed.columns()


@pytest.mark.parametrize("kernel", ["value", "terms", "rows", "answer"])
def test_each_kernel_of_each_kind_is_summed_once(kernel: str) -> None:
    """By what a function in Python does that is written as the solver's are."""
    called: list[tuple] = []

    class Tables:
        def __getattr__(self, name: str) -> str:
            return name

    written = room._written(kernel, "\ndef total(asked):\n    called.append((KIND, asked.KIND))\n")
    written.__globals__["called"] = called
    written(Tables())
    expected = {(getattr(kind.KERNELS, kernel), kind.NAME) for kind in ASKED if getattr(kind.KERNELS, kernel)}
    assert len(called) == len(expected)
    assert set(called) == expected
    assert sorted(Asked._fields) == sorted(kind.NAME for kind in ASKED)


@pytest.mark.parametrize(
    ("item", "key"),
    [
        (LookAt("hand", np.zeros((1, 3))), "hand.look_at"),
        (LookAt("a.b", np.zeros((1, 3)), "c.d"), "a.b.look_at.in.c.d"),
        (Distance("hand", np.zeros(1), point=np.zeros((1, 3))), "hand.distance.world"),
        (Distance("hand", np.zeros(1), "contact"), "hand.distance.contact"),
        (Above("sole", least=np.zeros(1), points=np.zeros((2, 3))), "sole.above"),
        (Above("sole", of="box", least=np.zeros(1), points=np.zeros((2, 3))), "sole.above.box"),
        (Clearance("a", "b", least=np.zeros(1), points=np.zeros((2, 2, 3))), "a.clearance.b"),
        (Posture("hip.rx", np.zeros(1)), "posture.hip.rx"),
    ],
)
def test_a_key_is_read_as_it_is_written(item: Objective, key: str) -> None:
    assert item.key == key
    arrays = item.arrays() | {"posture.position": np.zeros((1, 3))}  # a track of a frame of that name
    (again,) = type(item).take(arrays)
    assert again.key == key
    assert again.bodies == item.bodies
    assert list(arrays) == ["posture.position"]


def test_a_form_says_its_words() -> None:
    form = KeyForm("{frame}.above[.{of:OBSTACLE}]")
    assert form.shown == "NAME.above[.OBSTACLE]"
    assert form.read("a.above") == {"frame": "a"}
    assert form.read("a.above.b") == {"frame": "a", "of": "b"}
    assert form.read("a.look_at") is None


def test_an_unknown_array_is_told_with_those_that_there_are(tmp_path: Path) -> None:
    np.savez(tmp_path / "clip.npz", times=np.zeros(1), **{"hand.look_at.axis": np.ones(3)})
    with pytest.raises(ClipError) as told:
        load_clip(tmp_path / "clip.npz")
    text = str(told.value)
    assert "unknown array 'hand.look_at.axis'" in text
    for form in ("NAME.look_at[.in.OTHER].axis", "NAME.in.OTHER.quaternion", "NAME.above[.OBSTACLE].points"):
        assert form in text
    assert "NAME.distance.OTHER, NAME.distance.OTHER.point, posture.JOINT, NAME.clearance.OTHER," in text


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (LookAt("hand", np.zeros((2, 3)), axis=np.ones(2)), r"hand.look_at.axis must be finite numbers .* \(3,\)"),
        (Above("a", least=np.zeros(2), points=np.ones(3)), r"a.above.points must be finite numbers .* \(K, 3\) \[m\]"),
        (Above("a", least=np.zeros(2), points=np.array("x")), r"a.above.points must be finite numbers"),
        (Above("a", least=np.zeros(2), points=np.ones((1, 3)), normal=np.ones((2, 3))), "length 1; sample 0 has not"),
        (Clearance("a", "b", least=-np.ones(2), points=np.ones((2, 2, 3))), "zero or more; sample 0 is -1"),
        (Posture("elbow", np.array(["x", "y"])), r"posture.elbow must be numbers of the shape \(2,\)"),
        (Posture("elbow", np.array([0.0, np.inf])), "posture.elbow must be finite; sample 1 is not"),
    ],
)  # fmt: skip
def test_wrong_arrays_are_told_by_their_key(item: Objective, said: str) -> None:
    with pytest.raises(ClipError, match=said):
        item.checked(2)


def test_a_row_asks_for_its_distance_where_a_kind_says_nothing_else() -> None:
    ((above, weight),) = Above.of_row(robots.load("boxer"), Row(frame="hand", samples=2, distance=0.3, weight=2.0))
    assert (above.frame, above.of, above.normal, weight) == ("hand", "", None, 2.0)
    assert above.least.tolist() == [0.3, 0.3]
    assert above.points.tolist() == [[0.0, 0.0, 0.0]]
