"""SDF, Gazebo's format: `*.sdf`."""
