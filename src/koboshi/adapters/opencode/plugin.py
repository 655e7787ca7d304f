"""The plug-in that has a run of OpenCode ask before each call. It needs no package."""

from __future__ import annotations

#: In the place of PATH: the script that is asked, as a string. Whatever keeps it from speaking
#: keeps the call from being made.
PLUGIN = """\
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
