"""A tool server on standard input and output, as small as can be: one tool, which counts its calls.

It is started by the CLI, with a Python of its own: nothing of ours is imported.
"""

import json
import pathlib
import sys
from typing import Any

TOOL = {
    "name": "note",
    "description": "Note a word",
    "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}},
}


def answer(request: dict[str, Any], calls: pathlib.Path) -> dict[str, Any]:
    """What that request is answered with."""
    method, given = request["method"], request.get("params") or {}
    if method == "initialize":
        about = {"name": "lab", "version": "1"}
        version = given.get("protocolVersion", "2025-06-18")
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        with calls.open("a", encoding="utf-8") as file:
            file.write(given["arguments"]["word"] + "\n")
        return {"content": [{"type": "text", "text": "noted " + given["arguments"]["word"]}]}
    return {}


def main() -> None:
    """Answer until the input ends."""
    calls = pathlib.Path(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            said = {"jsonrpc": "2.0", "id": request["id"], "result": answer(request, calls)}
            sys.stdout.write(json.dumps(said) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
