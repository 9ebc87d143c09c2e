"""The one bake: balance, contacts, walls and all frames, alike for shell, Blender, batch, physics and Python."""
