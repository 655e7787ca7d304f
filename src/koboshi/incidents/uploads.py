"""Bundles in S3-compatible storage: an extra, imported when there is an address."""

from __future__ import annotations

from pathlib import Path

#: Seconds of one upload, retries and all.
PATIENCE = 60


def upload(path: Path, address: str) -> str:
    """Put the file there; why that did not work, or nothing."""
    try:
        from obstore.store import from_url  # noqa: PLC0415 - an extra
    except ImportError:
        return "expected obstore: pip install 'koboshi[s3]'"
    import obstore  # noqa: PLC0415

    options = {"timeout": f"{PATIENCE}s", "allow_http": True}
    try:
        store = from_url(address, client_options=options)  # type: ignore[call-overload]
        obstore.put(store, path.name, path)
    except Exception as error:  # noqa: BLE001 - a storage may fail in any way, and ends nothing
        return f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"
    return ""
