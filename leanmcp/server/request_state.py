"""`requestState`: what a server must remember between two rounds of one request, carried by the client.

In: plain JSON values, the request that they belong to, and the time. Out: a sealed token, and back. A token comes from
outside, so that nothing in it counts before its seal has been verified; every fault is one and the same -32602.
Spec 2026-07-28: basic/patterns/mrtr, "Server Requirements (Basic Workflow)" 3 to 5.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..calls import is_async
from ..errors import InvalidParams, explained
from ..logs import warn_seldom
from ..protocol.canonical import canonical_json

if TYPE_CHECKING:
    from .context import Context

__all__ = [
    "AESGCMRequestStateCodec",
    "Binding",
    "HMACRequestStateCodec",
    "InvalidRequestState",
    "MemoryStateStore",
    "RequestStateCodec",
    "RequestStateSecurity",
    "StateStore",
    "StateTooLarge",
    "digest",
]

KEY_VARIABLE = "LEANMCP_STATE_KEY"
FILE_VARIABLE = "LEANMCP_STATE_KEY_FILE"
REFUSAL = "Invalid params: `requestState` does not belong to this request or is no longer valid; start again without it"
_LEAST_KEY = 32  # bytes
_VERSION = 1


class InvalidRequestState(Exception):
    """A token is not what it should be; the reason is for the log only."""


class StateTooLarge(ValueError):
    """What a request wants to remember does not fit into a token."""


def digest(value: object) -> str:
    """Return a short text that tells one JSON value from every other."""
    return _encode(hashlib.sha256(canonical_json(value)).digest()[:18])


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    """Return what `_encode` made `text` of; a text of any other form, spare bits included, is refused."""
    try:
        data = base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    except (UnicodeEncodeError, binascii.Error):
        raise InvalidRequestState("no base64url") from None
    if _encode(data) != text:
        raise InvalidRequestState("no canonical base64url")
    return data


# --- seals ----------------------------------------------------------------------------------------------------------


class RequestStateCodec(Protocol):
    """Protects the payload of tokens; an own one may keep its keys in a vault, or the payload on a server."""

    def seal(self, payload: bytes) -> str:
        """Return a token for `payload`."""

    def unseal(self, token: str) -> bytes:
        """Return the payload of a token.

        Raises:
            InvalidRequestState: the token was not made by `seal`, or has been changed.
        """


def _key_ring(keys: Sequence[bytes | bytearray | str], purpose: bytes) -> list[bytes]:
    """Return the keys for one purpose, derived from the secrets, so that one secret may serve several."""
    if isinstance(keys, str | bytes | bytearray) or not keys:
        raise ValueError("keys=: give a list of secrets, the one to seal with first")
    for number, key in enumerate(keys):
        if not isinstance(key, str | bytes | bytearray):  # bytes(64) would be 64 zeros
            raise TypeError(f"key {number} of the requestState is {_kind(key)}: give bytes or a string")
    secrets = [key.encode() if isinstance(key, str) else bytes(key) for key in keys]
    for number, secret in enumerate(secrets):
        if len(secret) < _LEAST_KEY:
            raise ValueError(_too_short(number, len(secret)))
    return [hmac.digest(secret, purpose, "sha256") for secret in secrets]


def _too_short(number: int, size: int) -> str:
    return (
        f"key {number} of the requestState has {size} bytes; give {_LEAST_KEY} or more random ones, "
        'as `python -c "import secrets; print(secrets.token_hex(32))"` prints'
    )


class HMACRequestStateCodec:
    """Signs the payload with HMAC-SHA256: `<base64url payload>.<base64url tag>`. Clients can read it, not change it.

    Args:
        keys: secrets of 32 bytes or more; the first one signs, each of them verifies.
    """

    @explained
    def __init__(self, keys: Sequence[bytes | bytearray | str]) -> None:
        self._keys = _key_ring(keys, b"leanmcp requestState 1 hmac-sha256")

    def seal(self, payload: bytes) -> str:
        """Return a token for `payload`."""
        return f"{_encode(payload)}.{_encode(hmac.digest(self._keys[0], payload, 'sha256'))}"

    def unseal(self, token: str) -> bytes:
        """Return the payload of a token; raises InvalidRequestState."""
        text, _, tag_text = token.partition(".")
        payload, tag = _decode(text), _decode(tag_text)
        valid = [hmac.compare_digest(hmac.digest(key, payload, "sha256"), tag) for key in self._keys]
        if not any(valid):
            raise InvalidRequestState("no key made this tag")
        return payload


class AESGCMRequestStateCodec:
    """Encrypts the payload with AES-256-GCM: clients can neither read nor change it. Needs the extra `leanmcp[aead]`.

    Args:
        keys: as for `HMACRequestStateCodec`.
    """

    _PREFIX = "e1."
    _NONCE_SIZE = 12

    @explained
    def __init__(self, keys: Sequence[bytes | bytearray | str]) -> None:
        try:
            # An extra: most servers have nothing to hide from the client that carries their state.
            from cryptography.exceptions import InvalidTag
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError:
            raise ImportError("AESGCMRequestStateCodec needs a package: pip install 'leanmcp[aead]'") from None
        self._invalid_tag = InvalidTag
        self._ciphers = [AESGCM(key) for key in _key_ring(keys, b"leanmcp requestState 1 aes-256-gcm")]

    def seal(self, payload: bytes) -> str:
        """Return a token for `payload`."""
        nonce = os.urandom(self._NONCE_SIZE)
        return self._PREFIX + _encode(nonce + self._ciphers[0].encrypt(nonce, payload, self._PREFIX.encode()))

    def unseal(self, token: str) -> bytes:
        """Return the payload of a token; raises InvalidRequestState."""
        if not token.startswith(self._PREFIX):
            raise InvalidRequestState("no token of this kind")
        data = _decode(token.removeprefix(self._PREFIX))
        nonce, sealed = data[: self._NONCE_SIZE], data[self._NONCE_SIZE :]
        for cipher in self._ciphers:
            try:
                return cipher.decrypt(nonce, sealed, self._PREFIX.encode())
            except (self._invalid_tag, ValueError):  # ValueError: too short for a nonce
                continue
        raise InvalidRequestState("no key made this token")


# --- single use -----------------------------------------------------------------------------------------------------


class StateStore(Protocol):
    """Remembers which tokens have been used; shared by all processes that serve the same clients."""

    async def claim(self, token_id: str, expires: float) -> bool:
        """Return True the first time a token is presented, False ever after.

        Args:
            token_id: of the token.
            expires: Unix seconds, after which it may be forgotten.
        """


class MemoryStateStore:
    """A StateStore for one process.

    Args:
        limit: most tokens that are remembered; when there are more that have not expired, further ones are refused.
    """

    def __init__(self, limit: int = 100_000) -> None:
        self._limit = limit
        self._used: dict[str, float] = {}

    async def claim(self, token_id: str, expires: float, now: float | None = None) -> bool:
        """Return True the first time; `now` is passed in by tests."""
        now = time.time() if now is None else now
        if token_id in self._used:
            return False
        if len(self._used) >= self._limit:
            self._used = {known: end for known, end in self._used.items() if end > now}
        if len(self._used) >= self._limit:
            return False
        self._used[token_id] = expires
        return True


# --- the policy -----------------------------------------------------------------------------------------------------


class Binding(NamedTuple):
    """The request that a state belongs to."""

    principal: str
    """Who asks; empty where nobody is known."""
    method: str
    target: str
    """The name of the tool or prompt, the URI of the resource."""
    arguments: Any
    """As plain JSON."""


class RequestStateSecurity:
    """How `requestState` is protected.

    Args:
        keys: secrets of 32 bytes or more, at random; the first one seals, each of them opens. Without keys and codec
            they come from the environment: LEANMCP_STATE_KEY (several with commas between them), or the lines of the
            file that LEANMCP_STATE_KEY_FILE names; and are made at random where there is neither. To change a key on
            several hosts: `[old, new]` everywhere, then `[new, old]`, then, once `ttl` is over, `[new]`.
        codec: seals in place of the built-in HMACRequestStateCodec, such as `AESGCMRequestStateCodec(keys)`.
        ttl: seconds from a question to its answer.
        bind_principal: who makes a request, as far as the server knows; a state of one is refused from another. Such
            as `lambda ctx: ctx.headers.get("x-user")` behind a proxy that sets this field on every request.
        audience: which server a state is for; default: its name. Servers that share keys do not take each other's.
        max_size: characters of the longest token.
        max_rounds: how often one request may ask.
        single_use: remembers the tokens that came back, and lets each be used once.

    Raises:
        TypeError: a part of another type.
        ValueError: keys and codec, or a value that cannot be.
    """

    @explained
    def __init__(
        self,
        *,
        keys: Sequence[bytes | bytearray | str] | None = None,
        codec: RequestStateCodec | None = None,
        ttl: float = 600.0,
        bind_principal: Callable[[Context[Any]], str | None] | None = None,
        audience: str | None = None,
        max_size: int = 64 * 1024,
        max_rounds: int = 10,
        single_use: StateStore | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        if keys is not None and codec is not None:
            raise ValueError("RequestStateSecurity takes keys= or codec=, not both")
        for name, value in (("ttl", ttl), ("max_size", max_size), ("max_rounds", max_rounds)):
            if isinstance(value, bool) or not (isinstance(value, int | float) and 0 < value < math.inf):
                raise ValueError(f"RequestStateSecurity: {name}={value!r}: give a positive number")
        _check_parts(codec, bind_principal, audience, single_use)
        if codec is None:
            found = keys if keys is not None else keys_of(os.environ if environment is None else environment)
            codec = HMACRequestStateCodec(found if found is not None else [os.urandom(_LEAST_KEY)])
        self.codec = codec
        self.ttl = ttl
        self.bind_principal = bind_principal
        self.audience = audience
        self.max_size = max_size
        self.max_rounds = max_rounds
        self.single_use = single_use

    @classmethod
    def ephemeral(cls, *, ttl: float = 600.0, audience: str | None = None) -> RequestStateSecurity:
        """Return a policy with a key of its own, which ends with the process and those forked from it."""
        return cls(keys=[os.urandom(_LEAST_KEY)], ttl=ttl, audience=audience)

    def seal(self, state: dict[str, Any], binding: Binding, now: float, audience: str = "") -> str:
        """Return the token that carries `state` for one request.

        Args:
            state: JSON values.
            now: Unix seconds, passed in so that tests need no clock.
            audience: where the policy itself names none.

        Raises:
            StateTooLarge: the token would be longer than `max_size`.
            TypeError, ValueError: the state has no JSON form.
        """
        payload = {
            "v": _VERSION,
            "aud": self.audience or audience,
            "sub": binding.principal,
            "req": _request_id(binding),
            "iat": now,
            "exp": now + self.ttl,
            "jti": os.urandom(12).hex(),
            "state": state,
        }
        # NaN is no JSON, and no other process could read it.
        token = self.codec.seal(json.dumps(payload, separators=(",", ":"), allow_nan=False).encode())
        if len(token) > self.max_size:
            raise StateTooLarge(
                f"the state of the request makes a token of {len(token)} characters, over the {self.max_size} allowed "
                "(RequestStateSecurity.max_size); keep the data on the server and its key in the state"
            )
        return token

    def open(self, token: str, binding: Binding, now: float, audience: str = "") -> tuple[dict[str, Any], str, float]:
        """Return the state in a token, the token's id and its expiry.

        Raises:
            InvalidParams: of any fault; the text is always the same.
        """
        try:
            payload = self._open(token, binding, now, self.audience or audience)
        except InvalidRequestState as fault:
            raise refused(str(fault)) from None
        return payload["state"], payload["jti"], payload["exp"]

    def _open(self, token: str, binding: Binding, now: float, audience: str) -> dict[str, Any]:
        if len(token) > self.max_size:
            raise InvalidRequestState("too long")
        payload: dict[str, Any] = json.loads(self.codec.unseal(token))
        # The seal is ours: what is inside has the form that `seal` gave it, or that of another version of this code.
        if payload.get("v") != _VERSION:
            raise InvalidRequestState("of another version")
        if payload["aud"] != audience:
            raise InvalidRequestState("for another server")
        if payload["sub"] != binding.principal:
            raise InvalidRequestState("of another principal")
        if payload["req"] != _request_id(binding):
            raise InvalidRequestState("of another request")
        if (
            not payload["iat"] - self.ttl <= now < payload["exp"]
        ):  # a clock elsewhere may be ahead, by no more than this
            raise InvalidRequestState("out of its time")
        return payload


def _check_parts(codec: object, bind_principal: object, audience: object, single_use: object) -> None:
    """Refuse parts that would fail with the first question, or would never do what they are there for."""
    subject = "RequestStateSecurity"
    if codec is not None and not _is_object_with(codec, "seal", "unseal"):
        raise TypeError(
            f"{subject}: codec= is {_kind(codec)}: give an object with `seal` and `unseal`, such as "
            "AESGCMRequestStateCodec(keys)"
        )
    if bind_principal is not None and not callable(bind_principal):
        raise TypeError(
            f"{subject}: bind_principal={bind_principal!r}: give a function that gets the Context and returns who "
            'asks, such as lambda ctx: ctx.headers.get("x-user")'
        )
    if bind_principal is not None and is_async(bind_principal):
        raise TypeError(f"{subject}: bind_principal= is `async def`; write a `def`, which returns who asks at once")
    if audience is not None and not isinstance(audience, str):
        raise TypeError(f"{subject}: audience={audience!r}: give a string, such as the name of the server")
    if single_use is not None and not _is_object_with(single_use, "claim"):
        raise TypeError(
            f"{subject}: single_use={single_use!r}: give a store that remembers what has been used, such as "
            "MemoryStateStore() for one process"
        )


def _is_object_with(part: object, *methods: str) -> bool:
    return not isinstance(part, type) and all(callable(getattr(part, name, None)) for name in methods)


def _kind(part: object) -> str:
    """Return the type of what may be a secret, in place of its text."""
    return f"the class {part.__name__}" if isinstance(part, type) else f"of type {type(part).__name__}"


def check_security(security: object) -> None:
    """Refuse what is no RequestStateSecurity as an option of a server; its text may be a secret, and is not shown."""
    if not isinstance(security, RequestStateSecurity):
        raise TypeError(
            f"MCPServer: request_state_security= is {_kind(security)}: give RequestStateSecurity(keys=[...])"
        )


def _request_id(binding: Binding) -> list[str]:
    return [binding.method, binding.target, digest(binding.arguments)]


def refused(reason: str) -> InvalidParams:
    """Return the one answer to every state that is not accepted; only the log has the reason."""
    warn_seldom("a requestState was refused: %s", reason)
    return InvalidParams(REFUSAL)


def keys_of(environment: Mapping[str, str]) -> list[str] | None:
    """Return the keys that the environment holds or names, None where it has none.

    Raises:
        ValueError: both variables are set, the file cannot be read or has no key, or one is too short.
    """
    value, path = environment.get(KEY_VARIABLE), environment.get(FILE_VARIABLE)
    if value and path:
        raise ValueError(f"{KEY_VARIABLE} and {FILE_VARIABLE} are both set; keep one")
    if path:
        try:
            keys = Path(path).read_text().split()
        except OSError as fault:
            raise ValueError(f"{FILE_VARIABLE}={path}: {fault.strerror}; its lines are the keys") from None
        except UnicodeDecodeError:
            raise ValueError(f"{FILE_VARIABLE}={path}: it is no text; its lines are the keys") from None
        if not keys:
            raise ValueError(f"{FILE_VARIABLE}: there is no key in {path}")
        return _long_enough(keys, FILE_VARIABLE)
    found = [key for part in value.split(",") if (key := part.strip())] if value else []
    return _long_enough(found, KEY_VARIABLE) or None


def _long_enough(keys: list[str], variable: str) -> list[str]:
    """Return keys of the environment; of one that is too short, the message names the variable."""
    for number, key in enumerate(keys):
        if len(key.encode()) < _LEAST_KEY:
            raise ValueError(f"{variable}: {_too_short(number, len(key.encode()))}")
    return keys
