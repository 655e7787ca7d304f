"""TLS with a certificate of our own authority: a real server, a real client that checks it."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from koboshi.errors import InputError
from koboshi.web import server
from tests.browser.serving import Served
from tests.daemon.trials import PATIENCE, trial
from tests.web.certificates import Papers, issued


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    """Papers that are in order."""
    return issued(tmp_path_factory.mktemp("papers"))


@pytest.fixture
def served(tmp_path: Path, papers: Papers) -> Iterator[Served]:
    """A page behind TLS."""
    with trial(tmp_path) as koboshi:
        made = Served(koboshi, "--cert", str(papers.cert), "--key", str(papers.key))
        try:
            yield made
        finally:
            assert made.end() == ""


def opened(address: str, trust: ssl.SSLContext | None = None, ticket: str = "") -> Message:
    """The headers of the answer; with a ticket: to who comes in."""
    content = json.dumps({"ticket": ticket}).encode() if ticket else None
    base = address.rpartition("/")[0]
    asked = urllib.request.Request(address, data=content, headers={"Origin": base})  # noqa: S310
    with urllib.request.urlopen(asked, context=trust, timeout=PATIENCE) as answer:  # noqa: S310
        headers: Message = answer.headers
        return headers


def test_who_trusts_the_authority_comes_in_and_nobody_listens_in(
    served: Served, papers: Papers
) -> None:
    """The certificate is checked; the cookie is for TLS alone; the browser is told to stay."""
    trust = ssl.create_default_context(cafile=papers.authority)
    ticket = urlsplit(served.link).fragment.removeprefix("login=")

    told = opened(f"{served.base}login", trust, ticket)

    flags = {part.strip().lower() for part in told["set-cookie"].split(";")}
    assert {"secure", "httponly", "samesite=strict"} <= flags
    assert told["strict-transport-security"].startswith("max-age=")
    assert served.link.startswith("https://127.0.0.1:")


def test_who_does_not_trust_it_is_warned(served: Served) -> None:
    """And plain HTTP gets no answer at the same port."""
    with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
        opened(served.base)
    with pytest.raises(OSError, match=r"."):
        opened(served.base.replace("https:", "http:"))


def test_old_protocols_are_not_spoken(served: Served, papers: Papers) -> None:
    """TLS 1.2 at least."""
    trust = ssl.create_default_context(cafile=papers.authority)
    trust.set_ciphers("DEFAULT:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        trust.minimum_version = trust.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(urllib.error.URLError, match=r"SSL|PROTOCOL|ALERT"):
        opened(served.base, trust)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.2"])  # noqa: S104
def test_with_tls_an_open_address_is_fine(host: str, papers: Papers) -> None:
    """Nobody listens in."""
    tls = server.Place(host=host, port=1, cert=papers.cert, key=papers.key)

    assert server.checked(tls).base.startswith("https://")


def test_papers_that_do_not_fit_are_refused_in_words(papers: Papers, tmp_path: Path) -> None:
    """Before anybody comes: another's key, no PEM, a key that is locked, a file that is gone."""
    other = issued(tmp_path / "other")
    locked = issued(tmp_path / "locked", passphrase=b"secret")
    junk = tmp_path / "junk.pem"
    junk.write_text("no certificate")
    for cert, key, words in (
        (papers.cert, other.key, "is not the key of the certificate"),
        (junk, papers.key, "expected a certificate and its private key in PEM"),
        (papers.cert, papers.cert, "expected a certificate and its private key in PEM"),
        (locked.cert, locked.key, "is locked with a passphrase"),
        (papers.cert, tmp_path / "gone.pem", "cannot be read"),
    ):
        with pytest.raises(InputError, match=words):
            server.checked(server.Place(host="127.0.0.1", port=1, cert=cert, key=key))


def test_the_command_says_so_too(papers: Papers, tmp_path: Path) -> None:
    """Exit code 2, a sentence, no traceback; also in the background."""
    other = issued(tmp_path / "other")
    with trial(tmp_path) as koboshi:
        for more in ((), ("-d",)):
            ran = koboshi.type("serve", *more, "--cert", str(papers.cert), "--key", str(other.key))
            assert ran.returncode == 2
            assert "is not the key of the certificate" in ran.stderr
            assert "Traceback" not in ran.stderr
