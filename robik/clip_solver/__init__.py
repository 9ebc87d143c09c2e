"""All frames of a clip at once: motors within their limits, torques among them, loops assembled in every iterate."""
