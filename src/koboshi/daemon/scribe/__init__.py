"""What the daemon writes for people and other programs; none of it is ever read back by rules."""
