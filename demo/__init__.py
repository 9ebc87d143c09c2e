"""The demo: a character walks, the walker walks after it, and its motors play it on simulated servos."""
