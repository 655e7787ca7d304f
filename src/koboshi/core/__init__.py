"""The pure core: values and functions over them. Start reading in `engine.py`.

Rule 1: nothing here does I/O, reads a clock, logs, awaits or draws random numbers.
Rule 2: only the standard library is imported.
"""
