"""MJCF, MuJoCo's own format: `*.xml` whose root is <mujoco>, and `*.mjcf`."""
