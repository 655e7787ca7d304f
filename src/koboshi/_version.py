"""The version, alone: whoever only wants to say it imports nothing else."""

__version__ = "0.1.0"
