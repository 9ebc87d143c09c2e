"""Parts of a body by the names of bones, bodies and frames.

A name is cut into words, its side and its decorations (`DEF-`, `_ik`, `mixamorig:`) are set apart, and what is left
is looked up in the
words that rigs have for a part of the body: Rigify, Mixamo, Unreal, 3ds Max' biped, VRM, MMD, Daz, Maya's
`B_tars_lf_jnt`, the recordings of CMU, LAFAN1, SMPL and Xsens, plain `foot_l`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# What a part is called, words run together; what is named first is preferred.
PARTS = {
    "hips": ("hips", "pelvis", "hip", "spine", "torso", "trunk", "root"),
    "spine": ("spine1", "abdomen", "abdomenlower", "lowerback", "waist", "spine", "torso"),
    "chest": ("chest", "upperchest", "chestupper", "spine3", "spine2", "chestlower", "thorax", "ribcage", "torso"),
    "neck": ("neck", "necklower", "neck1"),
    "head": ("head",),
    "shoulder": ("shoulder", "clavicle", "collar"),
    "upper arm": ("upperarm", "arm", "uparm", "shldr", "shldrbend", "bicep", "biceps", "upperarm1"),
    "forearm": ("forearm", "lowerarm", "loarm", "forearmbend", "elbow", "forearm1"),
    "hand": ("hand", "wrist", "palm", "gripper", "tool", "endeffector", "tcp", "ee"),
    "thigh": ("thigh", "upleg", "upperleg", "thighbend", "thigh1"),
    "shin": ("shin", "calf", "lowerleg", "lowleg", "leg", "shank", "knee"),
    "foot": ("foot", "ankle", "sole", "tars", "tarsus", "paw"),
    "toe": ("toe", "toebase", "toes", "ball", "forefoot"),
}
SIDED = ("shoulder", "upper arm", "forearm", "hand", "thigh", "shin", "foot", "toe")
ARMS = ("shoulder", "upper arm", "forearm", "hand")
ENDS = ("hips", "chest", "head", "hand", "foot")  # of a robot without named frames, these bodies are proposed
LEFT, RIGHT = (
    ("l", "left", "lft", "lf", "lt", "fl", "rl", "hl", "lh"),
    ("r", "right", "rgt", "rt", "rf", "fr", "rr", "hr", "rh"),
)
SIDES = dict.fromkeys(LEFT, "l") | dict.fromkeys(RIGHT, "r")  # those of quadrupeds among them: LF_FOOT, RR_calf
HIND = {"rl", "rr", "hl", "hr", "lh", "rh", "hind", "rear", "back"}
FRONT = {"fl", "fr", "lf", "rf", "front", "fore"}
# Words that say nothing about the part.
SILENT = {
    "def",
    "org",
    "mixamorig",
    "bip",
    "biped",
    "valve",
    "cc",
    "base",
    "j",
    "c",
    "b",
    "bn",
    "bone",
    "jnt",
    "joint",
    "sk",
    "frame",
    "link",
    "body",
    "bind",
}
# Words of bones that follow or steer the real one: taken only if there is nothing better. DEF and ORG are Rigify's.
STEERING = {"ik": 4, "fk": 3, "ctrl": 3, "control": 3, "ctl": 3, "org": 1}
# Words of bones that are something else.
NEVER = {
    "mch",
    "tweak",
    "parent",
    "master",
    "target",
    "pole",
    "vis",
    "twist",
    "roll",
    "dummy",
    "finger",
    "end",
    "nub",
    "site",
    "socket",
    "heel",
    "spin",
    "widget",
    "wgt",
    "offset",
}
# What MMD calls the parts of a body, longer words first.
JAPANESE = {
    "全ての親": "master", "操作中心": "master", "センター": "root", "グルーブ": "groove", "下半身": "hips",
    "上半身": "spine", "つま先": "toe", "ダミー": "dummy", "手首": "hand", "足首": "foot",
    "首": "neck", "頭": "head", "肩": "shoulder", "捩": "twist", "腕": "upper arm",
    "ひじ": "forearm", "肘": "forearm", "ひざ": "shin", "膝": "shin", "足": "thigh",
    "腰": "waist", "指": "finger", "左": "left", "右": "right", "先": "end",
    "胸": "chest",
}  # fmt: skip
WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


@dataclass(frozen=True)
class Name:
    """Parts of a name.

    Attributes:
        stem: the words that name a part, run together.
        side: "l", "r" or "".
        steering: how far it is from the bone that moves the body itself; 0 for that.
    """

    stem: str
    side: str
    steering: int


def read_name(name: str) -> Name | None:
    """Return a name's stem, side and whether it steers others; None for one that cannot be a part of a body."""
    words = [w.lower() for w in WORD.findall(_in_english(name.rpartition(":")[2]))]
    if NEVER & set(words):
        return None
    side = next((SIDES[w] for w in words if w in SIDES), "")
    steering = sum(STEERING.get(w, 0) for w in words)
    kept = [
        str(int(w)) if w.isdigit() else w for w in words if w not in SIDES and w not in SILENT and w not in STEERING
    ]
    if "bip" in words and kept and kept[0].isdigit():  # Bip01
        kept = kept[1:]
    if kept and kept[-1] == "0":
        kept = kept[:-1]
    return Name("".join(kept), side, steering)


def _in_english(name: str) -> str:
    """Return a name with its Japanese words in English, and full-width letters as usual ones."""
    plain = unicodedata.normalize("NFKC", name)
    if plain.isascii():
        return plain
    for word, meaning in JAPANESE.items():
        plain = plain.replace(word, f" {meaning} ")
    return plain


def robot_name(name: str) -> str:
    """Return the name of a robot's body or joint without pitch, roll, yaw and the number of a copy.

    `l_ankle_roll` is an ankle, and `hand_2`, as CAD calls the other side's, a hand.
    """
    return re.sub(r"(?i)(pitch|roll|yaw)", "_", re.sub(r"_\d+$", "", name))


def part_of(name: str) -> tuple[str, str]:
    """Return (part, side) of a body by the name of a bone, body or frame, each empty where the name says none."""
    said = read_name(name)
    return (candidates_of(said) or [(0.0, "")])[0][1], said.side if said else ""


def parts_of(names: Iterable[str]) -> dict[str, str]:
    """Return the part that each name stands for beside the others, empty for one that is none.

    A spine is the hips only where nothing else is called so.
    """
    ranked = {name: candidates_of(read_name(name)) for name in names}
    found: dict[str, str] = {}
    taken: set[tuple[str, str]] = set()
    for name in sorted(ranked, key=lambda name: min(ranked[name], default=(0.0, ""))[0]):
        side = part_of(name)[1]
        part = next((part for _, part in ranked[name] if (part, side) not in taken), "")
        taken.add((part, side))
        found[name] = part
    return found


def candidates_of(said: Name | None) -> list[tuple[float, str]]:
    """Return (rank, part) for each part that a name can stand for, the most usual first, at rank 0."""
    if said is None:
        return []
    ranked = [(float(words.index(said.stem)), part) for part, words in PARTS.items() if said.stem in words]
    if (
        not ranked and (stem := said.stem.rstrip("0123456789")) and not said.side
    ):  # torso_2_link, the last of its kind first
        last = 1.0 / (1.0 + int(said.stem[len(stem) :] or 0))
        ranked = [
            (words.index(stem) + last, part) for part, words in PARTS.items() if stem in words and part not in SIDED
        ]
    return sorted(ranked, key=lambda found: found[0])


def auto_map(frames: Sequence[str], bones: Sequence[str], hips: str = "") -> dict[str, str]:
    """Return the bone that each frame should follow, for frames whose part is known by name and has a bone.

    `hips` names the frame of the hips where its own name does not say so.
    """
    said = [(bone, name) for bone in bones if (name := read_name(bone)) is not None]
    rigify = any(
        bone.startswith("DEF-") for bone in bones
    )  # its plain names are controls, which need not move as the body does
    pairs: dict[str, str] = {}
    taken: set[tuple[str, str]] = set()  # parts with their sides: a torso above a pelvis is none
    parts = {frame: [(-1.0, "hips")] if frame == hips else candidates_of(read_name(frame)) for frame in frames}
    for frame in sorted(frames, key=lambda frame: min(parts[frame], default=(0.0, ""))[0]):
        bone = (None if rigify else _same_name(frame, bones)) or _bone_of(
            parts[frame], part_of(frame)[1], said, rigify, taken
        )
        if bone is not None:
            pairs[frame] = bone
    return {frame: pairs[frame] for frame in frames if frame in pairs}


def ends(bodies: Iterable[str]) -> list[str]:
    """Return the bodies for a character to lead, if a robot names no frames.

    They are hips, chest, head, hands or else forearms, feet.
    """
    said = {body: part_of(body) for body in bodies}
    hands = {side for part, side in said.values() if part == "hand"}
    return [body for body, (part, side) in said.items() if part in ENDS or (part == "forearm" and side not in hands)]


def _same_name(frame: str, bones: Sequence[str]) -> str | None:
    return next((bone for bone in bones if bone.lower() == frame.lower()), None)


def _bone_of(
    parts: Sequence[tuple[float, str]],
    side: str,
    said: list[tuple[str, Name]],
    rigify: bool,
    taken: set[tuple[str, str]],
) -> str | None:
    """Return the bone of the most usual part that a frame stands for and that no other frame has.

    Notes that it is taken.
    """
    for _, part in parts:
        words = PARTS[part]
        sides = (side,) if part not in SIDED else (side,) if side else ("r", "l", "")
        found = [
            (
                sides.index(name.side),
                name.steering + 2 * (rigify and not bone.startswith("DEF-")),
                words.index(name.stem),
                len(bone),
                bone,
            )
            for bone, name in said
            if name.stem in words and name.side in sides and (part, name.side) not in taken
        ]
        if found:
            taken.add((part, sides[min(found)[0]]))
            return min(found)[-1]
    return None
