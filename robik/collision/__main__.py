"""The process that reads what collides from an MJCF with MuJoCo, and prints it as a line of JSON.

A process of its own, since some files end MuJoCo's reader together with the process that it is in.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import mujoco

WIDTHS = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3}  # numbers of a size


def main(path: str) -> None:
    """Print, as JSON, the geoms of an MJCF file that can touch others, and the pairs of bodies that cannot."""
    model = mujoco.MjModel.from_xml_path(path)
    names = [model.body(k).name for k in range(model.nbody)]
    kinds = {int(getattr(mujoco.mjtGeom, f"mjGEOM_{kind.upper()}")): kind for kind in (*WIDTHS, "mesh")}
    touching = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    geoms = [
        {"body": names[model.geom_bodyid[k]]} | _geom(model, k, kinds[int(model.geom_type[k])])
        for k in range(model.ngeom)
        if touching[k] and int(model.geom_type[k]) in kinds
    ]
    signatures = [divmod(int(signature), 1 << 16) for signature in model.exclude_signature]
    print(json.dumps({"geoms": geoms, "apart": [(names[a], names[b]) for a, b in signatures]}))


def _geom(model: Any, k: int, kind: str) -> dict[str, Any]:
    """Return a geom as plain data."""
    told = {"kind": kind, "position": model.geom_pos[k].tolist(), "quaternion": model.geom_quat[k].tolist()}
    if kind != "mesh":
        return told | {"size": model.geom_size[k, : WIDTHS[kind]].tolist()}
    mesh = model.geom_dataid[k]
    first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    return told | {"points": model.mesh_vert[first : first + count].tolist()}


if __name__ == "__main__":
    main(sys.argv[1])
