"""The hook shim: agents call it, it hands their JSON on and is gone.

    python -I -S _hook.py                        a hook: JSON on stdin, nothing on stdout
    python -I -S _hook.py ask                    a question: waits for an answer, prints it if any
    python -I -S _hook.py statusline [COMMAND]   a status line: prints one; COMMAND is the user's
    python -I -S _hook.py brief FILE             a session starts: prints FILE, once, and is all

Rule 1: it never holds the agent up and never fails it: short timeouts, exit 0, whatever happens.
A question waits while somebody says that they think about it; its dialog is open meanwhile.
Rule 2: it imports nothing of ours, and little else: it is started for every tool call.
Rule 3: what nobody was there to take goes to the spool, one line each, to be read later.

The environment says where to: KOBOSHI_HOOK_SOCKET, KOBOSHI_HOOK_SPOOL, and for whom it speaks:
KOBOSHI_AGENT, KOBOSHI_RUN_NUMBER. A line is an envelope around the JSON as it came:
`{"kind":"hook","agent":"a1","run":3,"utc":1793000000.0,"payload":{…}}`.
"""

import os
import sys
import time

try:  # the modules without `_` cost as much again as all the rest
    import _signal as signal  # type: ignore[import-not-found]
    import _socket as socket
except ImportError:  # another Python
    import signal
    import socket  # type: ignore[no-redef]

#: Seconds for a listener to take the line; it is on this machine and only has to read.
PATIENCE = 0.5
#: Seconds without a sign of life of who thinks about a question, and for its answer in all.
SILENCE = 3.0
THINKS = 75
#: Seconds for the agent to say what it has to; one that never ends its input must not keep us.
INPUT = 3
#: Bytes of a payload; tools may be given whole files, and nobody needs those here.
MOST = 256 * 1024
#: Bytes of a spool that nobody reads.
SPOOL_MOST = 16 * 1024 * 1024
#: What is added to the name of a brief that was printed.
TOLD = ".told"
#: What is kept of a payload that is too long.
KEPT = (
    "hook_event_name",
    "session_id",
    "transcript_path",
    "cwd",
    "source",
    "reason",
    "notification_type",
    "tool_name",
    "tool_use_id",
)


def main(argv: list[str]) -> None:
    """Hand one payload on."""
    statusline, asks = argv[1:2] == ["statusline"], argv[1:2] == ["ask"]
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.alarm(INPUT)
    payload = sys.stdin.buffer.read()
    signal.alarm(0)
    if argv[1:2] == ["brief"]:
        brief(payload, argv[2])
        return  # another hook of the same event tells of it
    if statusline:
        show(payload, argv[2:])
    line = envelope("statusline" if statusline else "hook", payload, asks=asks)
    if not sent(line, asks=asks) and not statusline:  # an old status line is of no use to anybody
        spooled(line)


def envelope(kind: str, payload: bytes, *, asks: bool = False) -> bytes:
    """The payload with who it is from, on one line; JSON has line ends only between its tokens."""
    if len(payload) > MOST:
        payload = shortened(payload)
    run = os.environ.get("KOBOSHI_RUN_NUMBER", "")
    head = '{"kind":"%s"%s,"agent":"%s","run":%s,"utc":%.3f,"payload":' % (  # noqa: UP031 - quick
        kind,
        ',"waits":true' if asks else "",
        quoted(os.environ.get("KOBOSHI_AGENT", "")),
        run if run.isascii() and run.isdigit() else "null",
        time.time(),
    )
    body = payload.replace(b"\r", b" ").replace(b"\n", b" ").strip()
    return head.encode() + (body or b"null") + b"}\n"


def quoted(text: str) -> str:
    """Text inside JSON quotes."""
    plain = text.isascii() and text.replace("-", "").replace("_", "").isalnum()
    if plain or not text:
        return text
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


def shortened(payload: bytes) -> bytes:
    """The short facts of a long payload."""
    import json  # noqa: PLC0415 - seldom needed

    value = json.loads(payload)
    short = {k: v for k, v in value.items() if k in KEPT and len(str(v)) <= 4096}  # noqa: PLR2004
    return json.dumps(short).encode()


def sent(line: bytes, *, asks: bool = False) -> bool:
    """Whether a listener took it; what one answers to a question is printed."""
    path = os.environ.get("KOBOSHI_HOOK_SOCKET")
    if not path:
        return False
    try:
        talk = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            talk.settimeout(PATIENCE)
            talk.connect(path)
            talk.sendall(line)
            if asks:  # who gives up early gives the question up, and keys must do
                talk.settimeout(SILENCE)
            else:
                talk.shutdown(socket.SHUT_WR)
            said = talk.recv(1)  # without an answer it may have been lost
            return said == b"+" or (asks and said == b"~" and heard(talk))
        finally:
            talk.close()
    except (OSError, AttributeError):
        return False


def heard(talk: socket.socket) -> bool:
    """Wait for the answer and print it whole, or nothing; it was taken in any case."""
    signal.alarm(THINKS)
    talk.settimeout(SILENCE)
    said = b""
    try:
        while said != b"+" and not (said[:1] == b"=" and said[-1:] == b"\n"):
            more = talk.recv(65536)
            if not more:
                return True
            said = (said + more).lstrip(b"~")
    except OSError:
        return True
    if said != b"+":
        signal.alarm(0)
        sys.stdout.buffer.write(said[1:])
        sys.stdout.buffer.flush()
        talk.sendall(b"+")
    return True


def spooled(line: bytes) -> None:
    """Append it to the spool, in one write."""
    path = os.environ.get("KOBOSHI_HOOK_SPOOL")
    if not path:
        return
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    try:
        if os.fstat(handle).st_size < SPOOL_MOST:
            os.write(handle, line)
    finally:
        os.close(handle)


def brief(payload: bytes, path: str) -> None:
    """Print what the run is to know from its start; what is asked for later is an old story."""
    import json  # noqa: PLC0415 - once in a run

    if json.loads(payload).get("source") != "startup":
        return
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib costs more than all the rest
        text = file.read()
    os.rename(path, path + TOLD)  # noqa: PTH104 - whoever comes second finds nothing
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def show(payload: bytes, command: list[str]) -> None:
    """Print a status line: the user's own, or which model and how full."""
    if command:
        import subprocess  # noqa: PLC0415 - only where the user has a status line

        ran = subprocess.run(  # noqa: S602 - it is a line for a shell, in the user's settings
            command[0], shell=True, input=payload, stdout=subprocess.PIPE, check=False, timeout=30
        )
        text = ran.stdout
    else:
        import json  # noqa: PLC0415 - only here

        facts = json.loads(payload)
        used = (facts.get("context_window") or {}).get("used_percentage")
        name = str((facts.get("model") or {}).get("display_name", ""))
        text = (name if used is None else f"{name} · context {used:g}% used").encode()
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    try:
        main(sys.argv)
    except BaseException:  # noqa: BLE001 - rule 1
        os._exit(0)
    os._exit(0)  # no clean-up that could take time or speak
