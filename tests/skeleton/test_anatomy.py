"""Parts of a body by names and shape, on the conventions of others."""

from __future__ import annotations

import numpy as np
import pytest

from robik.errors import ClipError
from robik.skeleton.anatomy import ARM, FRONT_LEG, LEG, read_anatomy
from robik.skeleton.names import part_of
from robik.skeleton.skeleton import Skeleton
from tests.skeleton.conventions import CONVENTIONS, skeleton

JOINT_OF = {
    "thigh": "thigh",
    "shin": "shin",
    "foot": "foot",
    "upper arm": "upper arm",
    "forearm": "forearm",
    "hand": "hand",
}
CHEST = {"mmd": "spine1", "xsens bvh": "spine3", "xsens mvn": "spine3", "rokoko": "spine3"}


@pytest.mark.parametrize("nameless", [False, True], ids=["named", "nameless"])
@pytest.mark.parametrize("name", CONVENTIONS)
def test_every_part_is_found_by_names_and_by_shape_alone(name: str, nameless: bool) -> None:
    bones, joints = skeleton(name, nameless=nameless)
    parts = read_anatomy(bones).parts
    for side in ("l", "r"):
        assert {part: joints[parts[part, side]] for part in JOINT_OF} == {
            part: (joint, side) for part, joint in JOINT_OF.items()
        }
    assert joints[parts["hips", ""]][0] == "hips"
    assert joints[parts["chest", ""]][0] == CHEST.get(name, "spine2")
    assert joints[parts["head", ""]][0] in (("head",) if not nameless else ("head", "neck", "neck1"))


def test_a_rest_pose_that_is_none_is_seen_by_the_motion() -> None:
    """Bones that all point along X, as SOMA's do: where the feet are is told by the frames."""
    standing, joints = skeleton("soma", nameless=True)
    lengths = np.linalg.norm(standing.positions - standing.positions[np.maximum(standing.parents, 0)], axis=1)
    flat = np.zeros_like(standing.positions)
    for k, parent in enumerate(standing.parents):
        flat[k] = flat[parent] + [lengths[k], 0.0, 0.0] if parent >= 0 else 0.0
    artifact = Skeleton(standing.names, standing.parents, flat, standing.quaternions, flat)
    parts = read_anatomy(artifact, np.stack([standing.positions] * 4)).parts
    assert {joints[parts["foot", side]] for side in ("l", "r")} == {("foot", "l"), ("foot", "r")}
    assert joints[parts["hand", "l"]][0] == "hand"


def quadruped(words: tuple[str, str]) -> Skeleton:
    """A dog that faces −Y; front and hind legs by these words."""
    rows = [("Hips", "", (0, 0.3, 0.5)), ("Spine", "Hips", (0, 0, 0.52)), ("Chest", "Spine", (0, -0.2, 0.5))]
    rows += [("Neck", "Chest", (0, -0.4, 0.6)), ("Head", "Neck", (0, -0.5, 0.8)), ("HeadEnd", "Head", (0, -0.6, 0.8))]
    for side, x in (("Left", 0.1), ("Right", -0.1)):
        for word, top, y in ((words[0], "Hips", 0.3), (words[1], "Chest", -0.3)):
            above = top
            for part, z, forward in (("Up", 0.48, 0.0), ("Low", 0.27, 0.05), ("Paw", 0.05, 0.0), ("Tip", 0.0, -0.06)):
                rows.append((f"{side}{word}{part}", above, (x, y + forward, z)))
                above = rows[-1][0]
    names = tuple(name for name, _, _ in rows)
    places = np.array([place for *_, place in rows], dtype=float)
    parents = np.array([names.index(parent) if parent else -1 for _, parent, _ in rows])
    return Skeleton(names, parents, places, np.tile([1.0, 0, 0, 0], (len(rows), 1)), places)


@pytest.mark.parametrize("words", [("Hind", "Front"), ("Xa", "Xb")])
def test_quadrupeds_have_four_legs(words: tuple[str, str]) -> None:
    anatomy = read_anatomy(quadruped(words))
    assert anatomy.is_quadruped
    for kind, word in ((LEG, words[0]), (FRONT_LEG, words[1])):
        for side, name in (("l", "Left"), ("r", "Right")):
            limb = anatomy.limb(kind, side)
            assert limb is not None
            assert (limb.upper, limb.lower, limb.end) == (f"{name}{word}Up", f"{name}{word}Low", f"{name}{word}Paw")
    assert anatomy.limb(ARM, "l") is None
    assert anatomy.parts["head", ""] == "Head"


def test_what_has_no_limbs_has_no_parts() -> None:
    rope = Skeleton(("a", "b", "c"), np.array([-1, 0, 1]), np.eye(3), np.tile([1.0, 0, 0, 0], (3, 1)), np.eye(3))
    assert read_anatomy(rope).parts == {}
    assert read_anatomy(rope).limbs == ()


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("左足首", ("foot", "l")), ("右ひじ", ("forearm", "r")), ("左手首", ("hand", "l")), ("頭", ("head", "")),
        ("左足ＩＫ", ("thigh", "l")), ("B_tars_lf_jnt", ("foot", "l")),
        ("LeftToe_End", ("", "")), ("LF_FOOT", ("foot", "l")), ("RR_calf", ("shin", "r")),
    ],
)  # fmt: skip
def test_names_of_other_tongues(name: str, part: tuple[str, str]) -> None:
    assert part_of(name) == part


def test_skeletons_are_checked() -> None:
    one = np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 1)), np.zeros((2, 3))
    with pytest.raises(ClipError, match="two bones are called 'a'"):
        Skeleton(("a", "a"), np.array([-1, 0]), *one)
    with pytest.raises(ClipError, match="'a' hangs on no root"):
        Skeleton(("a", "b"), np.array([1, 0]), *one)
    with pytest.raises(ClipError, match=r"positions must have the shape \(2, 3\), not \(3, 3\)"):
        Skeleton(("a", "b"), np.array([-1, 0]), np.zeros((3, 3)), one[1], one[2])
