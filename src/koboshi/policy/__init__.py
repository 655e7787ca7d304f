"""Whether what an agent asks for may be done: by its owner's rules, above them a built-in deny set.

`judging.judge` is the one door. Nothing here does I/O: what the disk says comes in as a function.
"""
