"""Signed assertions for `private_key_jwt`; needs the package `cryptography` (extra `oauth`).

In: a private key and claims. Out: compact JWTs. RFC 7515, 7518 3, 7523 3.
"""

from __future__ import annotations

import base64
import secrets
import time
from typing import Any

import msgspec

try:
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
except ImportError as missing:
    raise ImportError("private_key_jwt needs the package 'cryptography'; pip install 'leanmcp[oauth]'") from missing

_HASHES: dict[str, hashes.HashAlgorithm] = {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}
_CURVES = {"ES256": "secp256r1", "ES384": "secp384r1", "ES512": "secp521r1"}


def sign(claims: dict[str, Any], pem: str, algorithm: str) -> str:
    """Return a JWT with `claims`, and with `iat`, `jti` of its own.

    Args:
        claims: iss, sub, aud and exp at least.
        pem: private key, not encrypted.
        algorithm: RS256, PS256, ES256 with their 384 and 512, or EdDSA.

    Raises:
        ValueError: the key is none, or not one for the algorithm; the text quotes nothing of it.
    """
    claims = {"iat": int(time.time()), "jti": secrets.token_urlsafe(16), **claims}
    try:
        key = serialization.load_pem_private_key(pem.encode(), None)
    except (ValueError, TypeError) as fault:
        raise ValueError(f"signing_key is no PEM private key without a password ({type(fault).__name__})") from None
    signed = b"%b.%b" % (_encode({"alg": algorithm, "typ": "JWT"}), _encode(claims))
    return (signed + b"." + _base64url(_signature(key, algorithm, signed))).decode()


def _signature(key: object, algorithm: str, signed: bytes) -> bytes:
    family, size = algorithm[:2], algorithm[2:]
    if isinstance(key, rsa.RSAPrivateKey) and family in ("RS", "PS") and size in _HASHES:
        digest = _HASHES[size]
        if family == "RS":
            return key.sign(signed, padding.PKCS1v15(), digest)
        return key.sign(signed, padding.PSS(padding.MGF1(digest), digest.digest_size), digest)
    if isinstance(key, ec.EllipticCurvePrivateKey) and _CURVES.get(algorithm) == key.curve.name:
        r, s = utils.decode_dss_signature(key.sign(signed, ec.ECDSA(_HASHES[size])))
        octets = (key.key_size + 7) // 8
        return r.to_bytes(octets, "big") + s.to_bytes(octets, "big")
    if isinstance(key, ed25519.Ed25519PrivateKey) and algorithm in ("EdDSA", "Ed25519"):
        return key.sign(signed)
    raise ValueError(f"signing_algorithm={algorithm!r} does not fit a key of type {type(key).__name__}")


def _encode(members: dict[str, Any]) -> bytes:
    return _base64url(msgspec.json.encode(members))


def _base64url(octets: bytes) -> bytes:
    return base64.urlsafe_b64encode(octets).rstrip(b"=")
