"""Work that takes long: steps that a window stays alive between, and the sign of life that servos wait for."""
