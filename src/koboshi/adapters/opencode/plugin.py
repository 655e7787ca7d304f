"""The plug-ins that runs of OpenCode are given. They need no package.

In the place of PATH: the script that is called, as a string.
"""

from __future__ import annotations

import json
from pathlib import PurePosixPath

#: Where OpenCode is given settings that go over those of its files.
CONTENT = "OPENCODE_CONFIG_CONTENT"

#: Has a run ask before each call. Whatever keeps the script from speaking keeps the call from
#: being made.
PERMIT = """\
import { spawnSync } from "node:child_process"

export const Koboshi = async () => ({
  "tool.execute.before": async (input, output) => {
    const asked = JSON.stringify({ tool: input.tool, args: output.args })
    const ran = spawnSync("sh", [PATH], { input: asked, encoding: "utf8", timeout: 60000 })
    if (ran.status !== 0) throw new Error("the policy could not be asked")
    if (!ran.stdout.trim()) return
    const said = JSON.parse(ran.stdout).hookSpecificOutput
    if (said.permissionDecision === "deny") throw new Error(said.permissionDecisionReason)
  },
})
"""

#: Has a run tell which session it is in, as soon as there is work in it. Nothing waits for it.
#: An OpenCode that the agent starts itself inherits the settings, and is another one; sessions of
#: sub-agents have a parent.
TELL = """\
import { spawn } from "node:child_process"

const MARK = "KOBOSHI_OPENCODE"

export const Koboshi = async () => {
  const me = String(process.pid)
  if ((process.env[MARK] ??= me) !== me) return {}
  const main = new Set()
  let told = ""
  const tell = (session) => {
    const source = told ? "clear" : "startup"
    told = session
    const said = { hook_event_name: "SessionStart", session_id: session, source }
    const shim = spawn("sh", [PATH], { stdio: ["pipe", "ignore", "ignore"], detached: true })
    shim.on("error", () => {})
    shim.stdin.on("error", () => {})
    shim.stdin.end(JSON.stringify(said))
    shim.unref()
  }
  return {
    event: async ({ event }) => {
      const { info, sessionID, status } = event.properties ?? {}
      if (event.type === "session.created" || event.type === "session.updated") {
        if (info && !info.parentID) main.add(info.id)
      } else if (event.type === "session.status" && status?.type === "busy") {
        if (sessionID !== told && main.has(sessionID)) tell(sessionID)
      }
    },
  }
}
"""


def with_plugin(given: str, path: str) -> str | None:
    """The settings with one plug-in more; None: they are a person's, and cannot be read."""
    try:
        theirs = json.loads(given or "{}")
    except (ValueError, RecursionError):
        return None  # it may have comments; nothing of a person's is replaced
    if not isinstance(theirs, dict):
        return None
    before = theirs.get("plugin")
    plugins = [*(before if isinstance(before, list) else ()), PurePosixPath(path).as_uri()]
    return json.dumps({**theirs, "plugin": plugins})
