"""The user's own manifests: `adapters/<name>.toml` in the config directory.

A manifest that cannot be used never stops the supervisor: it is named, with what is wrong in it,
and ours is used.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.adapters import registry
from koboshi.errors import ManifestBroken

if TYPE_CHECKING:
    from koboshi.adapters.base import Adapter

BUILT_IN = "built-in"
_MOST_BYTES = 1 << 20  # ours have 10 kB


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """An adapter, where its manifest comes from, and why the user's was not taken."""

    adapter: Adapter
    source: str = BUILT_IN  #: that word, or the path of the user's manifest
    complaints: tuple[str, ...] = ()


def config_dir() -> Path:
    """`$KOBOSHI_CONFIG`, else `$XDG_CONFIG_HOME/koboshi`, else `~/.config/koboshi`."""
    own = os.environ.get("KOBOSHI_CONFIG")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "koboshi"


def adapter_in(config: Path, name: str, version: str = "") -> Chosen:
    """The adapter of that name as the user wants it; UnknownAgent names the known ones."""
    built_in = registry.adapter(name, None, version)
    path = config / "adapters" / f"{name}.toml"
    try:
        text = _read(path)
    except FileNotFoundError:
        return Chosen(adapter=built_in)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return Chosen(adapter=built_in, complaints=(f"{path}: {reason[0].lower() + reason[1:]}",))
    if not registry.has_manifest(name):
        wrong = f"{path}: expected a CLI with a manifest, not {name!r}"
        return Chosen(adapter=built_in, complaints=(wrong,))
    try:
        return Chosen(adapter=registry.adapter(name, text, version), source=str(path))
    except ManifestBroken as broken:
        told = tuple(f"{path}: {wrong}" for wrong in broken.complaints)
        return Chosen(adapter=built_in, complaints=told)


def _read(path: Path) -> str:
    with path.open("rb") as stream:
        content = stream.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        message = f"expected a manifest, not more than {_MOST_BYTES} bytes"
        raise ValueError(message)
    return content.decode("utf-8")
