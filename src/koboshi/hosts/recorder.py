"""Start one program in this terminal, wait for it, and write down how it ended.

Run by a host as ``python -I -S -X utf8 recorder.py FOLDER``; with ``detached`` behind it there is
no terminal, and we leave the host's own children first. These files in FOLDER tell the story:

- ``launch.json``: what to start; the host writes it last, we delete it (it holds an environment)
- ``child.json``:  the program runs: its pid, its mark, when it was born; and who we are
- ``status.json``: the program ended: exit code or signal; or it never started: an error
- ``go``:          a program that `waits` for its host may begin; we delete it when it has

A fourth, ``bell``, is a FIFO if somebody listens for news: the status is news.

Standard library only, and nothing of koboshi: it runs outside our environment and outlives us.
No signal that a terminal or a shutdown sends ends it before the status is on disk.
Only SIGHUP is passed on, because the kernel sends it to nobody else: when the terminal is gone
for good, the program is asked to end, and made to when it does not listen.
"""

# Importing pathlib would take as long as everything else we do until the fork.
# ruff: noqa: PTH105, PTH108, PTH110, PTH112, PTH118, PTH123

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import sys
import termios
import time
from typing import Any, NoReturn

#: The FIFO on which somebody may listen, see bells.py.
BELL = "bell"

#: Nanoseconds that timers of our tmux server may be late, see slack.py; and the kernel's default.
SLACK, USUAL_SLACK = 10_000_000, 50_000
OWN_SLACK = "/proc/self/timerslack_ns"

#: Seconds to wait for launch.json. The host writes it right after it has marked the terminal; if
#: the host died in between, nothing must start that nobody could find again.
PATIENCE = 30.0

#: What lets a program begin that waits, and what is said of one that nobody let.
GO = "go"
GO_PATIENCE = 10.0  #: seconds: a pid is written down in some milliseconds
UNLEASHED = "nobody let it begin"

#: Seconds from SIGTERM to SIGKILL for a program that took longer than it may.
OVERDUE_KILL = 5.0

#: Seconds after the terminal was lost. Nobody can reach a program without one, nor find it again.
TERM_AFTER, KILL_AFTER = 5.0, 15.0

WAKING = (signal.SIGCHLD, signal.SIGHUP)
SURVIVED = (
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGTSTP,
    signal.SIGTTIN,
    signal.SIGTTOU,
)
#: Python ignores these two by itself; the program must not inherit that.
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
STOPPED_BY_TERMINAL = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)


def main(folder: str, *, detached: bool = False) -> int:
    """Tell the whole story once; returns the exit code by a shell's convention."""
    for number in SURVIVED:
        signal.signal(number, signal.SIG_IGN)
    if detached and os.fork():
        return 0
    signals = open_signals()
    if detached:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # no terminal can be lost
    else:
        own_terminal()
    launch = read_launch(folder)
    if launch is None:
        tell(folder, "status.json", {"error": "the host never said what to start"})
        return 127
    pid, error = spawn(launch, folder)
    if error:
        os.waitpid(pid, 0)
        tell(folder, "status.json", {"error": error})
        return 127
    began = time.monotonic()
    if not launch.get("waits"):
        tell(folder, "child.json", identity(pid, launch))
    limit = launch.get("limit")
    code, killer = decode(wait(pid, signals, overdue_blows(began, limit)))
    seconds = round(time.monotonic() - began, 3)
    end = {"pid": pid, "code": code, "signal": killer, "ended": utc(), "seconds": seconds}
    tell(folder, "status.json", {**end, "overdue": limit is not None and seconds >= limit})
    ring(folder)
    return code if code is not None else 128 + (killer or 0)


def identity(pid: int, launch: dict[str, Any]) -> dict[str, Any]:
    """By what the program, and whatever it starts, will be known."""
    return {
        "pid": pid,
        "born": born(pid),
        "started": time.time(),
        "mark": launch["env"].get("KOBOSHI_RUN", ""),
        "recorder": os.getpid(),
        "recorder_born": born(os.getpid()),
    }


def own_terminal() -> None:
    """Make our standard input the controlling terminal, unless it already is."""
    try:
        os.tcgetpgrp(0)
    except OSError:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def read_launch(folder: str) -> dict[str, Any] | None:
    """What to start, or None when nobody said so in time."""
    path = os.path.join(folder, "launch.json")
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and os.path.isdir(folder):
        with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii") as file:
            launch: dict[str, Any] = json.load(file)
            os.unlink(path)
            return launch
        time.sleep(0.005)
    return None


def spawn(launch: dict[str, Any], folder: str) -> tuple[int, str]:
    """Fork and exec; the error text is empty when the exec succeeded."""
    read_end, write_end = os.pipe()  # both close on exec: end of file means it worked
    gate, opener = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(opener)
        become(launch, write_end, gate)
    os.close(write_end)
    os.close(gate)
    # Done on both sides of the fork, whoever is first. Fails when the child has exec'ed already.
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)
    waits = bool(launch.get("waits"))
    if waits:
        tell(folder, "child.json", identity(pid, launch))
    if not waits or let_go(folder):
        os.write(opener, b"!")
    os.close(opener)
    with os.fdopen(read_end, "rb") as pipe:
        error = pipe.read().decode(errors="replace")
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(folder, GO))
    return pid, error


def let_go(folder: str) -> bool:
    """Whether the host says in time that the program may begin; it may have died meanwhile."""
    path = os.path.join(folder, GO)
    deadline = time.monotonic() + GO_PATIENCE
    while time.monotonic() < deadline and os.path.isdir(folder):
        if os.path.exists(path):
            return True
        time.sleep(0.005)
    return False


def become(launch: dict[str, Any], write_end: int, gate: int) -> NoReturn:
    """Turn this child into the program, as the foreground process group of the terminal.

    Its own group: a Ctrl-C reaches the program and not us, `end` can signal the whole group, and
    tmux's pane_current_command names the program.
    """
    try:
        os.setpgid(0, 0)
        if os.isatty(0):
            os.tcsetpgrp(0, os.getpid())  # SIGTTOU is still ignored here, else we would stop
        for number in (*WAKING, *SURVIVED, *IGNORED_BY_PYTHON):
            signal.signal(number, signal.SIG_DFL)
        be_punctual()
        kept = {name: os.environ[name] for name in launch["keep"] if name in os.environ}
        os.chdir(launch["cwd"])
        if os.read(gate, 1):
            os.execvpe(launch["argv"][0], launch["argv"], {**launch["env"], **kept})  # noqa: S606
        os.write(write_end, UNLEASHED.encode())
    except (OSError, ValueError) as error:
        os.write(write_end, str(error).encode(errors="replace"))
    finally:  # whatever went wrong: a second recorder must never run on from here
        os._exit(127)


def be_punctual() -> None:
    """Shed the slack that the tmux server passes on; any other is somebody's wish."""
    with contextlib.suppress(OSError):
        with open(OWN_SLACK, encoding="ascii") as file:
            lenient = file.read().strip() == str(SLACK)
        if lenient:
            with open(OWN_SLACK, "w", encoding="ascii") as file:
                file.write(str(USUAL_SLACK))


def wait(pid: int, signals: int, blows: list[tuple[float, signal.Signals]]) -> int:
    """Wait for the end of `pid`, passing a hang-up on; `blows` are what comes by itself."""
    while True:
        pause = max(0.0, blows[0][0] - time.monotonic()) if blows else None
        woken = read_signals(signals, pause)
        status = reap(pid)
        if status is not None:
            return status
        if signal.SIGHUP in woken:
            strike(pid, signal.SIGHUP)
            blows = blows or last_blows()
        elif blows and time.monotonic() >= blows[0][0]:
            strike(pid, blows.pop(0)[1])


def reap(pid: int) -> int | None:
    """The wait status of `pid` if it has ended; a stop that came from the terminal is undone.

    No shell sits here that could say `fg`, so that Ctrl-Z would freeze the program for ever.
    SIGSTOP is left alone: somebody meant it.
    """
    while True:
        found, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
        if not found:
            return None
        if not os.WIFSTOPPED(status):
            return status
        if os.WSTOPSIG(status) in STOPPED_BY_TERMINAL:
            # The terminal first: a program that reads in the background stops again at once.
            with contextlib.suppress(OSError):
                os.tcsetpgrp(0, pid)
            strike(pid, signal.SIGCONT)


def strike(pid: int, number: signal.Signals) -> None:
    """Signal the program's group, and wake it up if it was stopped."""
    with contextlib.suppress(OSError):
        os.killpg(pid, number)
        os.killpg(pid, signal.SIGCONT)


def overdue_blows(began: float, limit: float | None) -> list[tuple[float, signal.Signals]]:
    """What ends a program that takes longer than it may; whoever asked for it may be gone."""
    if limit is None:
        return []
    return [(began + limit, signal.SIGTERM), (began + limit + OVERDUE_KILL, signal.SIGKILL)]


def last_blows() -> list[tuple[float, signal.Signals]]:
    """What is still to come and when: nothing while the terminal is there."""
    try:
        os.tcgetpgrp(0)
    except OSError:
        now = time.monotonic()
        return [(now + TERM_AFTER, signal.SIGTERM), (now + KILL_AFTER, signal.SIGKILL)]
    return []


def open_signals() -> int:
    """A pipe that says which signals came; the handlers themselves do nothing."""
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for number in WAKING:
        signal.signal(number, lambda *_: None)
    return read_end


def read_signals(signals: int, pause: float | None) -> bytes:
    """The numbers of the signals that came, after at most `pause` seconds."""
    ready, _, _ = select.select([signals], [], [], pause)
    return os.read(signals, 512) if ready else b""


def decode(status: int) -> tuple[int | None, int | None]:
    """Exit code and signal; exactly one of them is None."""
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    return os.WEXITSTATUS(status), None


def born(pid: int) -> int | None:
    """Start time of a process in clock ticks since boot; None where there is no /proc.

    Unlike a wall-clock time it does not move when the clock is set.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name in parentheses may itself hold spaces and parentheses.
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


def utc() -> str:
    """Now, as ISO 8601."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def tell(folder: str, name: str, record: dict[str, Any]) -> None:
    """Write a record if it can be written; a folder that is gone means nobody wants to know."""
    with contextlib.suppress(OSError):
        write(folder, name, record)


def ring(folder: str) -> None:
    """Say that there is news, if somebody listens; never wait for anybody."""
    with contextlib.suppress(OSError):
        bell = os.open(os.path.join(folder, BELL), os.O_WRONLY | os.O_NONBLOCK)
        try:
            os.write(bell, b"!")
        finally:
            os.close(bell)


def write(folder: str, name: str, record: dict[str, Any]) -> None:
    """Put a whole file into place at once, readable by nobody else."""
    path = os.path.join(folder, name)
    descriptor = os.open(path + ".part", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        json.dump(record, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".part", path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], detached="detached" in sys.argv[2:]))
