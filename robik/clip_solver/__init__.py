"""All frames of a clip at once: motors within speed, acceleration, jerk and torque, loops assembled in every iterate."""
