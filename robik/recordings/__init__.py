"""Recordings of motion as skeletons: BVH, positions of joints, poses of SMPL body models."""

from .recording import load_recording

__all__ = ["load_recording"]
