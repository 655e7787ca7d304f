"""What one agent CLI looks like; decoding is pure."""
