"""Bundles in S3-compatible storage: an extra, imported when there is an address."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

#: Seconds of one try, and tries that the storage's own client makes within it.
PATIENCE, TRIES = 20.0, 1
#: Characters of what the storage objected to.
SAID = 400


async def upload(path: Path, address: str) -> str:
    """Put the file there; why that did not work, or nothing."""
    try:
        obstore, store_of = await asyncio.to_thread(_modules)
    except ImportError:
        return "expected obstore: pip install 'koboshi[s3]'"
    try:
        async with asyncio.timeout(PATIENCE):
            store = store_of(
                address,
                client_options={"timeout": f"{PATIENCE:g}s", "allow_http": True},
                retry_config={"max_retries": TRIES, "retry_timeout": timedelta(seconds=PATIENCE)},
            )
            await obstore.put_async(store, path.name, path)
    except TimeoutError:
        return f"no answer within {PATIENCE:g} s"
    except Exception as error:  # noqa: BLE001 - a storage may fail in any way, and ends nothing
        return _words(error)
    return ""


def _words(error: Exception) -> str:
    """What it objects to; what is behind `Debug source` is for whoever builds the client."""
    said = " ".join(str(error).partition("Debug source")[0].split())
    return said[:SAID] or type(error).__name__


def _modules():  # type: ignore[no-untyped-def] # noqa: ANN202 - an extra, which may not be there
    import obstore  # noqa: PLC0415
    from obstore.store import from_url  # noqa: PLC0415

    return obstore, from_url
