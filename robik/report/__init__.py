"""Reports: how well a motion follows its clip, what it does besides, and pages of it."""
