"""A certificate authority of our own, and certificates for names and addresses."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Papers:
    """Files of one server, and of who vouches for it."""

    cert: Path
    key: Path
    authority: Path
    fingerprint: str  #: of its public key, as Chromium wants it


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _begun(name: str, issuer: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(tz=dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_named(name))
        .issuer_name(_named(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _DAY)
        .not_valid_after(now + _DAY)
    )


def issued(folder: Path, passphrase: bytes = b"") -> Papers:
    """Papers for 127.0.0.1 and localhost, from an authority made for them."""
    ours, theirs = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority = (
        _begun("koboshi tests", "koboshi tests", ours)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(ours, hashes.SHA256())
    )
    names = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
    cert = (
        _begun("127.0.0.1", "koboshi tests", theirs)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(ours, hashes.SHA256())
    )
    folder.mkdir(parents=True, exist_ok=True)
    pem = serialization.Encoding.PEM
    shut: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if passphrase:
        shut = serialization.BestAvailableEncryption(passphrase)
    key = theirs.private_bytes(pem, serialization.PrivateFormat.PKCS8, shut)
    contents = {"cert": cert.public_bytes(pem), "key": key, "ca": authority.public_bytes(pem)}
    for name, content in contents.items():
        (folder / f"{name}.pem").write_bytes(content)
    public = theirs.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return Papers(
        cert=folder / "cert.pem",
        key=folder / "key.pem",
        authority=folder / "ca.pem",
        fingerprint=base64.b64encode(hashlib.sha256(public).digest()).decode(),
    )
