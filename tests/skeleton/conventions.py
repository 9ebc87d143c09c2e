"""Skeletons by the names that others give bones, with the joints of one standing human."""

from __future__ import annotations

import numpy as np

from robik.skeleton.skeleton import Skeleton

# Joints of a human 1.75 m tall in T-pose, who faces −Y, the left side along +X [m].
MIDDLE = {
    "ground": (0, 0, 0), "hips": (0, 0, 0.96), "spine": (0, 0, 1.06), "spine1": (0, 0, 1.18), "spine2": (0, 0, 1.30),
    "spine3": (0, 0, 1.36), "neck": (0, 0.01, 1.50), "neck1": (0, 0, 1.54), "head": (0, 0, 1.60), "crown": (0, 0, 1.78),
}  # fmt: skip
LEFT = {
    "clavicle": (0.03, 0, 1.46), "upper arm": (0.18, 0, 1.45), "forearm": (0.46, 0, 1.45), "hand": (0.72, 0, 1.45),
    "finger": (0.80, 0, 1.45), "finger end": (0.84, 0, 1.45), "twist": (0.30, 0, 1.45),
    "thigh": (0.09, 0, 0.92), "shin": (0.09, -0.01, 0.50), "foot": (0.09, 0.02, 0.08), "toe": (0.09, -0.12, 0.02),
    "toe end": (0.09, -0.19, 0.02), "skirt": (0.12, 0.05, 0.95), "hem": (0.15, 0.06, 0.6),
}  # fmt: skip
LEG, ARM = ("thigh", "shin", "foot", "toe"), ("clavicle", "upper arm", "forearm", "hand")
# Convention: bones of the trunk with their joints, the patterns of left and right, the words of leg and arm, what else
# there is.
CONVENTIONS: dict[str, tuple[str, tuple[str, str], str, str]] = {
    "lafan1": ("Hips:hips Spine:spine Spine1:spine1 Spine2:spine2 Neck:neck Head:head", ("Left{}", "Right{}"),
               "UpLeg Leg Foot Toe", "Shoulder Arm ForeArm Hand"),
    "soma": ("Hips:hips Spine1:spine Spine2:spine1 Chest:spine2 Neck1:neck Neck2:neck1 Head:head HeadEnd:crown",
             ("Left{}", "Right{}"),
             "Leg Shin Foot ToeBase ToeEnd", "Shoulder Arm ForeArm Hand HandMiddle1 HandMiddle2"),
    "xsens bvh": ("Hips:hips Chest:spine Chest2:spine1 Chest3:spine2 Chest4:spine3 Neck:neck Head:head",
                  ("Left{}", "Right{}"),
                  "Hip Knee Ankle Toe", "Collar Shoulder Elbow Wrist"),
    "xsens mvn": ("Pelvis:hips L5:spine L3:spine1 T12:spine2 T8:spine3 Neck:neck Head:head", ("Left{}", "Right{}"),
                  "UpperLeg LowerLeg Foot Toe", "Shoulder UpperArm ForeArm Hand"),
    "smpl": ("Pelvis:hips Spine1:spine Spine2:spine1 Spine3:spine2 Neck:neck Head:head", ("L_{}", "R_{}"),
             "Hip Knee Ankle Foot", "Collar Shoulder Elbow Wrist Hand"),
    "mixamo": ("mixamorig:Hips:hips mixamorig:Spine:spine mixamorig:Spine1:spine1 mixamorig:Spine2:spine2 "
               "mixamorig:Neck:neck "
               "mixamorig:Head:head mixamorig:HeadTop_End:crown", ("mixamorig:Left{}", "mixamorig:Right{}"),
               "UpLeg Leg Foot ToeBase Toe_End", "Shoulder Arm ForeArm Hand HandIndex1 HandIndex2"),
    "unreal": ("root:ground pelvis:hips spine_01:spine spine_02:spine1 spine_03:spine2 neck_01:neck head:head",
               ("{}_l", "{}_r"),
               "thigh calf foot ball", "clavicle upperarm lowerarm hand index_01 index_02"),
    "vrm": ("Root:ground J_Bip_C_Hips:hips J_Bip_C_Spine:spine J_Bip_C_Chest:spine1 J_Bip_C_UpperChest:spine2 "
            "J_Bip_C_Neck:neck "
            "J_Bip_C_Head:head", ("J_Bip_L_{}", "J_Bip_R_{}"), "UpperLeg LowerLeg Foot ToeBase",
            "Shoulder UpperArm LowerArm Hand"),
    "mmd": ("センター:ground 下半身:hips 上半身:spine 上半身2:spine1 首:neck 頭:head", ("左{}", "右{}"),
            "足 ひざ 足首 つま先", "肩 腕 ひじ 手首 中指１ 中指２"),
    "unity": ("Hips:hips Spine:spine Chest:spine1 UpperChest:spine2 Neck:neck Head:head", ("Left{}", "Right{}"),
              "UpperLeg LowerLeg Foot Toes", "Shoulder UpperArm LowerArm Hand"),
    "rokoko": ("Root:ground Hips:hips Spine1:spine Spine2:spine1 Spine3:spine2 Spine4:spine3 Neck:neck Head:head",
               ("Left{}", "Right{}"),
               "Thigh Shin Foot Toe ToeTip", "Shoulder Arm ForeArm Hand Finger3Metacarpal Finger3Proximal"),
    "maya": ("B_root_jnt:ground B_pelv_jnt:hips B_lumb_jnt:spine B_thor_jnt:spine2 B_cerv_jnt:neck B_crani_jnt:head "
             "B_cranTip_jnt:crown",
             ("B_{}_lf_jnt", "B_{}_rt_jnt"), "fem tib tars phal", "clv hum rad carp dig"),
}  # fmt: skip
FURTHER = {"thigh": ("toe end",), "clavicle": ("finger", "finger end")}  # joints beyond foot and hand


def skeleton(name: str, *, nameless: bool = False) -> tuple[Skeleton, dict[str, tuple[str, str]]]:
    """Return a skeleton by its convention, and the joint and the side that each of its bones begins at."""
    trunk, sides, leg, arm = CONVENTIONS[name]
    bones = [(*entry.rpartition(":")[::2], "") for entry in trunk.split()]
    rows = [(bone, bones[k - 1][0] if k else "", joint, "") for k, (bone, joint, _) in enumerate(bones)]
    joint_of = {joint: bone for bone, joint, _ in bones}
    if name == "mmd":  # the lower body hangs beside the upper one
        rows = [(b, "センター" if b == "上半身" else p, j, s) for b, p, j, s in rows]
    chest = next(joint_of[j] for j in ("spine3", "spine2", "spine1") if j in joint_of)
    for words, joints, top in ((leg, LEG, joint_of["hips"]), (arm, ARM, chest)):
        for side, pattern in zip(("l", "r"), sides, strict=True):
            above = top
            for word, joint in zip(words.split(), (*joints, *FURTHER[joints[0]]), strict=False):
                rows.append((pattern.format(word), above, joint, side))
                above = rows[-1][0]
    if name == "vrm":
        rows += [(f"J_Sec_{s.upper()}_Skirt{k}", ("J_Bip_C_Hips", f"J_Sec_{s.upper()}_Skirt1")[k - 1],
                  ("skirt", "hem")[k - 1], s)
                 for s in "lr" for k in (1, 2)]  # fmt: skip
    if name == "unreal":
        rows += [("ik_foot_root", "root", "ground", "")]
        rows += [(f"ik_foot_{side}", "ik_foot_root", "foot", side) for side in "lr"]
        rows += [(f"upperarm_twist_01_{side}", f"upperarm_{side}", "twist", side) for side in "lr"]
    if nameless:
        new = {bone: f"Bone.{k:03d}" for k, (bone, *_) in enumerate(rows)}
        rows = [(new[bone], new.get(parent, ""), joint, side) for bone, parent, joint, side in rows]
    return _made(rows), {bone: (joint, side) for bone, _, joint, side in rows}


def _made(rows: list[tuple[str, str, str, str]]) -> Skeleton:
    names = tuple(bone for bone, *_ in rows)
    parents = np.array([names.index(parent) if parent else -1 for _, parent, _, _ in rows])
    places = np.array(
        [np.array({**MIDDLE, **LEFT}[joint]) * (-1 if side == "r" else 1, 1, 1) for _, _, joint, side in rows],
        dtype=float,
    )
    tips = places.copy()
    for k in range(len(rows)):
        under = np.flatnonzero(parents == k)
        tips[k] = places[under].mean(axis=0) if len(under) else 1.5 * places[k] - 0.5 * places[parents[k]]
    return Skeleton(names, parents, places, np.tile([1.0, 0.0, 0.0, 0.0], (len(rows), 1)), tips)
