"""A small terminal program that behaves like a coding-agent CLI; imports nothing of koboshi."""
