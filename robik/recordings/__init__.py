"""Recordings of motion as skeletons: BVH, positions of joints, poses of SMPL body models, characters from Blender."""

from .character_file import save_recording
from .recording import load_recording

__all__ = ["load_recording", "save_recording"]
