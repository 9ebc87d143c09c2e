"""URDF, ROS's format: `*.urdf`, with side files for its loops, and `*.xacro`, which expands to it."""
