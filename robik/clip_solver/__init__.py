"""All frames of a clip at once: motors within speed, acceleration and jerk, loops assembled in every iterate."""
