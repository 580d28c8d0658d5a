"""Run a command with some system calls only: `python filtered.py CALL,CALL,... COMMAND...`.

It uses the same library as systemd. All other calls fail with EPERM, as configured in the units.
"""

import ctypes
import errno
import os
import sys
from typing import Final

ALLOW: Final = 0x7FFF0000
REFUSE: Final = 0x00050000 | errno.EPERM
NO_NEW_PRIVILEGES: Final = 38


def restrict(calls: list[str]) -> None:
    """Allow this process and its children only these calls."""
    library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(REFUSE)))
    for name in calls:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:  # negative: a call of other processors
            _check(library.seccomp_rule_add_array(rules, ctypes.c_uint32(ALLOW), number, 0, None))
    _check(ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _check(library.seccomp_load(rules))


def _check(code: int) -> None:
    if code:
        raise OSError(-code, os.strerror(-code))


if __name__ == "__main__":
    restrict(sys.argv[1].split(","))
    os.execv(sys.argv[2], sys.argv[2:])
