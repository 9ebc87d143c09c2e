"""Shows: several robots and a sound by one clock, from a file, without Blender."""
