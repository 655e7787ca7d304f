"""`koboshi notify`: try the channels, send a word, see what is on its way."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples:
  koboshi notify test
  koboshi notify send "the build is red"

\b
Exit codes: 0 fine · 1 a channel did not work
2 no such channel, or a mistake in a file · 4 the daemon cannot be reached
"""
_TEST = """\b
Examples:
  koboshi notify test
  koboshi notify test phone

\b
Exit codes: 0 all work · 1 one does not
2 no such channel, or a mistake in a file
"""
_SEND = """\b
Examples:
  koboshi notify send "the build is red" --severity P0
  koboshi notify send "please look at the printer" --ask

\b
Exit codes: 0 fine · 2 an empty text · 4 the daemon cannot be reached
"""
_LS = """\b
Examples:
  koboshi notify ls
  koboshi notify ls --json | jq .troubles

\b
Exit codes: 0 fine · 4 the daemon cannot be reached
"""


@click.group(epilog=_EPILOG)
def notify() -> None:
    """Reach people: by the channels of [notify] in your own koboshi.toml."""


@notify.command(epilog=_TEST)
@click.argument("channel", required=False)
def test(*, channel: str | None) -> None:
    """Send a word on every channel, or on CHANNEL, now; tell what came of it.

    From here, with the environment of this shell; the daemon has its own.
    """
    from koboshi.config.owned import owned
    from koboshi.core.events import Severity
    from koboshi.notices.channels import channel as opened
    from koboshi.notices.notice import Letter
    from koboshi.store.manifests import config_dir

    from .printing import paint, plain, say

    chosen = _chosen(owned(config_dir()), channel)
    letter = Letter(title="koboshi: test", body="This channel works.", severity=Severity.P1)
    failed = False
    for name, address in chosen.items():
        why = opened(address).send(letter)
        failed = failed or bool(why)
        mark = paint("✘", "red") if why else paint("✔", "green")
        say(f"{mark} {name}: {plain(why) or 'sent'}")
    if failed:
        raise SystemExit(1)


def _chosen(found: object, channel: str | None) -> dict[str, str]:
    """The channels that can be used; a mistake in one of them is an error now."""
    from koboshi.config.owned import Owned
    from koboshi.errors import ConfigBroken, InputError

    assert isinstance(found, Owned)  # noqa: S101 - imported late
    wrong = [str(each) for each in found.mistakes if each.key.startswith("notify") or not each.key]
    if wrong:
        raise ConfigBroken(tuple(wrong))
    channels = {name: each.url for name, each in found.file.notify.channels.items()}
    if channel is not None and channel not in channels:
        known = ", ".join(channels) or "none"
        raise InputError(f"expected the name of a channel, not {channel!r}", hint=f"there: {known}")
    if not channels:
        raise InputError(
            "expected a channel, and there is none",
            hint="[notify.channels.phone] with a url, in your own koboshi.toml",
        )
    return channels if channel is None else {channel: channels[channel]}


@notify.command(epilog=_SEND)
@click.argument("text")
@click.option(
    "--severity", type=click.Choice(["P0", "P1", "P2"]), default="P1", help="How soon it matters."
)
@click.option("--ask", is_flag=True, help="Ask a person to act: on every channel.")
def send(*, text: str, severity: str, ask: bool) -> None:
    """Bring TEXT to people, through the daemon: kept on disk until it is out."""
    from koboshi.daemon.control.client import call
    from koboshi.store.paths import state_dir

    from .printing import plain, say

    told = call(state_dir(), "notice", text=text, severity=severity, asks=ask)
    say(plain(told["said"]) if told["said"] else "nobody is told: no channel takes that")


@notify.command(name="ls", epilog=_LS)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def ls(*, as_json: bool) -> None:
    """Show what is on its way, what people are asked, and channels that do not work."""
    from koboshi.daemon.control.client import call
    from koboshi.store.paths import state_dir

    from .printing import plain, say, to_json

    told = call(state_dir(), "notices")
    if as_json:
        say(to_json(told))
        return
    say(f"channels: {', '.join(told['channels']) or 'none'}; on their way: {told['waiting']}")
    for text in told["asked"]:
        say(f"asked: {plain(text)}")
    for name, why in told["troubles"].items():
        say(f"{name} does not work: {plain(why)}")
