"""Length that brings rotational closure rows to the size of the others."""

from __future__ import annotations

import numpy as np

from .kept import kept_with_robot
from .model import Mechanism
from .parts import WORLD


@kept_with_robot
def mean_link(mechanism: Mechanism) -> float:
    """Return the mean distance [m] between neighbouring joint anchors (paper, III-C); 1 where no two are apart."""
    anchors: dict[str, list[np.ndarray]] = {}
    for joint in mechanism.joints:
        for end in (joint.parent, joint.child):
            if end != WORLD:
                anchors.setdefault(end, []).append(np.array(joint.position))
    spans = [
        float(np.linalg.norm(p - q)) for points in anchors.values() for i, p in enumerate(points) for q in points[:i]
    ]
    spans = [s for s in spans if s > 0]
    if not spans:
        spans = [s for s in (float(np.linalg.norm(body.rest_com)) for body in mechanism.bodies) if s > 0]
    return float(np.mean(spans)) if spans else 1.0
