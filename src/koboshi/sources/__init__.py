"""Coroutines that bring observations to a supervisor."""
