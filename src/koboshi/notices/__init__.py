"""Reaching people: what is to be told goes into an outbox on disk, and out on every channel."""
