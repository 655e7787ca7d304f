"""Two files that change places in one moment: what was there comes out, whoever wrote it last.

A rename alone would throw away what an editor saved between our last look and the rename.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path

#: `renameat2` and `renamex_np` call it EXCHANGE and SWAP.
_SWAP = 2
_AT_FDCWD = -100
#: What a kernel or a file system says that has no such thing.
_UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)

_Call = Callable[[bytes, bytes], int]


def swap(one: Path, other: Path) -> bool:
    """Let the two change places; False where that cannot be done here, and nothing was done."""
    call = _call()
    if call is None:
        return False
    if call(os.fsencode(one), os.fsencode(other)) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNKNOWN:
        return False
    raise OSError(code, os.strerror(code), str(other))


@functools.cache
def _call() -> _Call | None:
    """The C library's function, made to take two names."""
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin":
        function = getattr(library, "renamex_np", None)
        return function and (lambda one, other: int(function(one, other, _SWAP)))
    function = getattr(library, "renameat2", None)
    return function and (lambda one, other: int(function(_AT_FDCWD, one, _AT_FDCWD, other, _SWAP)))
