"""The sealed state between two rounds: who may present it, where, and until when."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from leanmcp import Context, MCPServer, Model
from leanmcp.errors import InvalidParams
from leanmcp.server import (
    AESGCMRequestStateCodec,
    HMACRequestStateCodec,
    InvalidRequestState,
    MemoryStateStore,
    RequestStateSecurity,
)
from leanmcp.server.request_state import REFUSAL, Binding, digest
from leanmcp.types import InputRequiredResult
from tests.support.rounds import accepted, error, message, only, payload, play, retry, send, text

KEY, OTHER = b"k" * 32, b"o" * 32
NOW = 1_700_000_000.0
BINDING = Binding("ann", "tools/call", "order", {"item": "tea"})
Codec = Callable[[list[bytes]], Any]
CODECS = [HMACRequestStateCodec, AESGCMRequestStateCodec]


def security(*keys: bytes, **options: Any) -> RequestStateSecurity:
    return RequestStateSecurity(keys=list(keys) or [KEY], **options)


def opens(policy: RequestStateSecurity, token: str, binding: Binding = BINDING, now: float = NOW) -> bool:
    """Return whether a token is accepted; a refusal has one text, whatever the reason."""
    try:
        state, token_id, expires = policy.open(token, binding, now)
    except InvalidParams as fault:
        refusal = fault
    else:
        assert (state, len(token_id)) == ({"a": 1}, 24)
        assert expires > now
        return True
    assert (refusal.code, refusal.message, refusal.data) == (-32602, REFUSAL, None)
    return False


# --- the seal ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
def test_one_flipped_bit_anywhere_is_refused(codec: Codec) -> None:
    """Spec: basic/patterns/mrtr 4; every bit of the token, the spare ones of base64 included."""
    policy = RequestStateSecurity(codec=codec([KEY]))
    token = policy.seal({"a": 1}, BINDING, NOW)
    assert opens(policy, token)
    for place in range(len(token)):
        for bit in range(7):
            changed = chr(ord(token[place]) ^ 1 << bit)
            assert not opens(policy, token[:place] + changed + token[place + 1 :]), (place, bit)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("change", [
    lambda token: token[:-1],
    lambda token: token[1:],
    lambda token: token + "A",
    lambda token: token + "-TAMPERED",
    lambda token: token + "=",
    lambda token: token + " ",
    lambda token: token.replace(".", ""),
    lambda token: token.partition(".")[0] + ".",
    lambda token: "." + token.partition(".")[2],
    lambda token: token.partition(".")[0],
    lambda token: "",
    lambda token: "e1.",
    lambda token: "..",
    lambda token: "\ud800",
    lambda token: "ж" * 40,
    lambda token: "A" * 1_000_000,
])  # fmt: skip
def test_any_other_text_is_refused(codec: Codec, change: Callable[[str], str]) -> None:
    """Spec: basic/patterns/mrtr 4: an attacker controls it."""
    policy = RequestStateSecurity(codec=codec([KEY]))
    assert not opens(policy, change(policy.seal({"a": 1}, BINDING, NOW)))


def test_a_state_that_the_client_made_itself_is_refused() -> None:
    """Spec: basic/patterns/mrtr 4; catches a server whose state is not signed, or signed by what everybody knows."""
    policy = security()
    sealed = policy.seal({"a": 1}, BINDING, NOW)
    inside = msgspec.json.decode(base64.urlsafe_b64decode(sealed.partition(".")[0] + "=="))
    forged = base64.urlsafe_b64encode(msgspec.json.encode({**inside, "state": {"a": 2}})).rstrip(b"=").decode()
    for tag in (sealed.partition(".")[2], "", "A" * 43, forged):
        assert not opens(policy, f"{forged}.{tag}")
    assert not opens(policy, security(b"\0" * 32).seal({"a": 1}, BINDING, NOW))


def test_the_payload_can_be_read_and_says_for_whom_it_is() -> None:
    """Ours: signed, not hidden; with the extra, hidden too."""
    token = security().seal({"a": 1}, BINDING, NOW, "Shop")
    text = token.partition(".")[0]
    inside = msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    assert inside["state"] == {"a": 1}
    assert (inside["aud"], inside["sub"], inside["iat"], inside["exp"]) == ("Shop", "ann", NOW, NOW + 600)
    assert inside["req"] == ["tools/call", "order", digest({"item": "tea"})]
    hidden = RequestStateSecurity(codec=AESGCMRequestStateCodec([KEY])).seal({"word": "hidden"}, BINDING, NOW)
    assert b"hidden" not in base64.urlsafe_b64decode(hidden[3:] + "=" * (-len(hidden[3:]) % 4))


@pytest.mark.parametrize("codec", CODECS)
def test_each_of_the_keys_opens_and_the_first_one_seals(codec: Codec) -> None:
    """Ours: M17, a key is changed without losing a round."""
    old, both, turned, new = (RequestStateSecurity(codec=codec(keys)) for keys in (
        [KEY], [KEY, OTHER], [OTHER, KEY], [OTHER]
    ))  # fmt: skip
    for sealing, opening in ((old, both), (both, old), (both, turned), (turned, both), (turned, new), (new, turned)):
        assert opens(opening, sealing.seal({"a": 1}, BINDING, NOW))
    for sealing, opening in ((old, new), (both, new), (turned, old)):
        assert not opens(opening, sealing.seal({"a": 1}, BINDING, NOW))


def test_one_secret_makes_other_keys_for_other_seals() -> None:
    """Ours: a token of one kind is no token of the other."""
    signed, hidden = security(), RequestStateSecurity(codec=AESGCMRequestStateCodec([KEY]))
    assert not opens(signed, hidden.seal({"a": 1}, BINDING, NOW))
    assert not opens(hidden, signed.seal({"a": 1}, BINDING, NOW))


@pytest.mark.parametrize(
    "other",
    [
        BINDING._replace(principal="bob"),
        BINDING._replace(principal=""),
        BINDING._replace(method="prompts/get"),
        BINDING._replace(target="Order"),
        BINDING._replace(arguments={"item": "Tea"}),
        BINDING._replace(arguments={"item": "tea", "more": None}),
        BINDING._replace(arguments={}),
    ],
)
def test_another_request_is_refused(other: Binding) -> None:
    """Spec: basic/patterns/mrtr 5: principal, method, salient parameters."""
    policy = security()
    assert not opens(policy, policy.seal({"a": 1}, BINDING, NOW), other)
    assert opens(policy, policy.seal({"a": 1}, other, NOW), other)


def test_the_order_of_the_arguments_does_not_matter() -> None:
    """Ours: a client or proxy may write an object anew."""
    policy = security()
    token = policy.seal({"a": 1}, BINDING._replace(arguments={"a": 1, "b": {"c": 2, "d": 3}}), NOW)
    assert opens(policy, token, BINDING._replace(arguments={"b": {"d": 3, "c": 2}, "a": 1}))


def test_a_state_has_its_time() -> None:
    """Spec: basic/patterns/mrtr 5: a short expiry; one from far in the future is refused as well."""
    policy = security(ttl=60)
    token = policy.seal({"a": 1}, BINDING, NOW)
    assert [opens(policy, token, now=NOW + seconds) for seconds in (-61, -60, 0, 59.9, 60, 3600)] == [
        False,
        True,
        True,
        True,
        False,
        False,
    ]


def test_servers_that_share_a_key_do_not_take_each_other_s_states() -> None:
    """Ours: audience, the server's name by default."""
    one, two = MCPServer("one", request_state_security=security()), MCPServer("two", request_state_security=security())
    for mcp in (one, two):
        _register(mcp)
    asked = send(one, message("order"))
    assert error(send(two, retry(message("order"), asked, {}))) == (-32602, REFUSAL)
    shared = [MCPServer(name, request_state_security=security(audience="shop")) for name in ("three", "four")]
    for mcp in shared:
        _register(mcp)
    asked = send(shared[0], message("order"))
    assert text(send(shared[1], retry(message("order"), asked, {only(asked): accepted(word="x")}))) == "x"


def test_a_state_of_another_version_of_this_code_is_refused() -> None:
    """Ours."""
    policy = security()
    for unknown in (b"{}", b'{"v":2}'):
        assert not opens(policy, policy.codec.seal(unknown))


def test_sizes_are_limited(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: M23; the log says what to do."""
    mcp = MCPServer("x", request_state_security=security(max_size=2000))

    @mcp.tool
    async def ask(size: int) -> InputRequiredResult:
        return InputRequiredResult(request_state="x" * size)

    assert len(send(mcp, message("ask", {"size": 1000}))["result"]["requestState"]) <= 2000
    code, sentence = error(send(mcp, message("ask", {"size": 2000})))
    assert code == -32603
    assert "too large" in sentence
    assert "RequestStateSecurity.max_size" in caplog.text


# --- the policy -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"keys": []}, "give a list of secrets"),
        ({"keys": "k" * 40}, "give a list of secrets"),
        ({"keys": [KEY, b"short"]}, "key 1 of the requestState has 5 bytes"),
        ({"keys": [KEY], "codec": HMACRequestStateCodec([KEY])}, "keys= or codec="),
        ({"ttl": 0}, "ttl=0"),
        ({"ttl": float("inf")}, "ttl=inf"),
        ({"ttl": True}, "ttl=True"),
        ({"max_size": -1}, "max_size=-1"),
        ({"max_rounds": 0}, "max_rounds=0"),
    ],
)
def test_a_policy_that_cannot_be_is_refused(options: dict[str, Any], words: str) -> None:
    """Ours: the text says what to give."""
    with pytest.raises(ValueError, match=words):
        RequestStateSecurity(**options)


def test_keys_come_from_the_environment_or_a_file(tmp_path: Path) -> None:
    """Ours: M17, several hosts share them; without any, each server has its own."""
    file = tmp_path / "keys"
    file.write_text("a" * 64 + "\n" + "b" * 64 + "\n")
    named = RequestStateSecurity(environment={"LEANMCP_STATE_KEY": "a" * 64 + ", " + "b" * 64})
    filed = RequestStateSecurity(environment={"LEANMCP_STATE_KEY_FILE": str(file)})
    second = RequestStateSecurity(keys=["b" * 64])
    assert opens(filed, named.seal({"a": 1}, BINDING, NOW))
    assert opens(named, second.seal({"a": 1}, BINDING, NOW))
    assert not opens(second, filed.seal({"a": 1}, BINDING, NOW))
    own = RequestStateSecurity(environment={}), RequestStateSecurity.ephemeral()
    assert not opens(own[0], own[1].seal({"a": 1}, BINDING, NOW))
    file.write_text("\n")
    with pytest.raises(ValueError, match="there is no key in"):
        RequestStateSecurity(environment={"LEANMCP_STATE_KEY_FILE": str(file)})
    with pytest.raises(ValueError, match="both set"):
        RequestStateSecurity(environment={"LEANMCP_STATE_KEY_FILE": str(file), "LEANMCP_STATE_KEY": "a" * 64})


def test_a_server_reads_the_environment_when_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a key that cannot be used stops the start, not the first question."""
    monkeypatch.setenv("LEANMCP_STATE_KEY", "short")
    with pytest.raises(ValueError, match="key 0 of the requestState has 5 bytes"):
        MCPServer("x")
    monkeypatch.setenv("LEANMCP_STATE_KEY", "s" * 40)
    assert MCPServer("x", request_state_security=security())
    begun, ended = MCPServer("x"), MCPServer("x")
    for mcp in (begun, ended):
        _register(mcp)
    asked = send(begun, message("order"))
    assert text(send(ended, retry(message("order"), asked, {only(asked): accepted(word="x")}))) == "x"


def test_processes_forked_from_a_server_share_its_key() -> None:
    """Ours: M18, workers of one group need no configuration, and the key is there before anybody asks."""
    mcp = MCPServer("x")
    _register(mcp)
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:  # asks, and leaves without the parent's clean-up
        os.write(sending, msgspec.json.encode(send(mcp, message("order"))))
        os._exit(0)
    os.close(sending)
    with open(receiving, "rb") as pipe:
        asked = msgspec.json.decode(pipe.read())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert text(send(mcp, retry(message("order"), asked, {only(asked): accepted(word="x")}))) == "x"


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: the text names the extra."""
    import sys

    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(ImportError, match=r"pip install 'leanmcp\[aead\]'"):
        AESGCMRequestStateCodec([KEY])


# --- on requests ------------------------------------------------------------------------------------------------------


class Word(Model):
    """Some text."""

    word: str


def _register(mcp: MCPServer) -> None:
    """Register what asks, and what does not, under the three methods."""

    @mcp.tool
    async def order(ctx: Context[Any], item: str = "tea") -> str:
        answer = await ctx.elicit("Which word?", Word)
        return str(answer.data.word) if answer.action == "accept" else answer.action

    @mcp.tool
    async def other(ctx: Context[Any], item: str = "tea") -> str:
        return str(await ctx.elicit("Which word?", Word))

    @mcp.tool
    async def plain(item: str = "tea") -> str:
        return item

    @mcp.prompt
    async def prompt(ctx: Context[Any], item: str = "tea") -> str:
        return str(await ctx.elicit("Which word?", Word))

    @mcp.resource("x://{item}")
    async def resource(item: str, ctx: Context[Any]) -> str:
        return str(await ctx.elicit("Which word?", Word))


@pytest.fixture
def mcp() -> MCPServer:
    """A server whose functions ask."""
    server = MCPServer("x", request_state_security=security())
    _register(server)
    return server


def presented(mcp: MCPServer, asked: dict[str, Any], request: dict[str, Any]) -> tuple[int, str]:
    """Return the error for a state that is presented with another request."""
    return error(send(mcp, retry(request, asked, {})))


def test_a_state_is_bound_to_its_tool(mcp: MCPServer) -> None:
    """Spec: basic/patterns/mrtr 5; on a tool that never asks, too."""
    asked = send(mcp, message("order"))
    for tool in ("other", "plain"):
        assert presented(mcp, asked, message(tool)) == (-32602, REFUSAL)


def test_a_state_is_bound_to_its_arguments(mcp: MCPServer) -> None:
    """Spec: basic/patterns/mrtr 5; no arguments, null and an empty object are the same."""
    asked = send(mcp, message("order", {"item": "tea"}))
    assert presented(mcp, asked, message("order", {"item": "coffee"})) == (-32602, REFUSAL)
    assert presented(mcp, asked, message("order")) == (-32602, REFUSAL)
    bare = send(mcp, message("order"))
    empty: tuple[dict[str, Any] | None, ...] = (None, {})
    for arguments in empty:
        request = message("order")
        request["params"]["arguments"] = arguments
        assert only(send(mcp, retry(request, bare, {})))
    del request["params"]["arguments"]
    assert only(send(mcp, retry(request, bare, {})))


def test_a_state_is_bound_to_its_method(mcp: MCPServer) -> None:
    """Spec: basic/patterns/mrtr 5; and to the URI of a resource, not to its template."""
    asked = send(mcp, message("prompt", method="prompts/get"))
    assert presented(mcp, asked, message("order")) == (-32602, REFUSAL)
    asked = send(mcp, message("x://a", method="resources/read"))
    assert only(send(mcp, retry(message("x://a", method="resources/read"), asked, {})))
    assert presented(mcp, asked, message("x://b", method="resources/read")) == (-32602, REFUSAL)
    assert presented(mcp, asked, message("prompt", method="prompts/get")) == (-32602, REFUSAL)


def test_an_old_state_is_refused(mcp: MCPServer) -> None:
    """Spec: basic/patterns/mrtr 5."""
    asked = send(mcp, message("order"))
    state = payload(asked)
    binding = Binding("", "tools/call", "order", {})
    for age, valid in ((0, True), (599, True), (601, False)):
        token = security().seal(state["state"], binding, state["iat"] - age, "x")
        answer = send(mcp, retry(message("order"), asked, {only(asked): accepted(word="x")}, requestState=token))
        assert ("result" in answer) is valid
        assert valid or error(answer) == (-32602, REFUSAL)


def test_a_state_under_another_key_is_refused(mcp: MCPServer) -> None:
    """Spec: basic/patterns/mrtr 4."""
    stranger = MCPServer("x", request_state_security=security(OTHER))
    _register(stranger)
    assert presented(mcp, send(stranger, message("order")), message("order")) == (-32602, REFUSAL)


@pytest.mark.parametrize("state", ["", "x", "a.b", "e30.AAAA"])
@pytest.mark.parametrize("name", ["order", "plain"])
def test_a_state_that_is_none_is_refused_by_every_tool(mcp: MCPServer, name: str, state: str) -> None:
    """Spec: basic/patterns/mrtr 4: state that fails verification is rejected, whether the tool would use it or not."""
    assert error(send(mcp, message(name, requestState=state))) == (-32602, REFUSAL)


@pytest.mark.parametrize("state", [5, None, {}, ["x"]])
def test_a_state_of_another_type_is_a_protocol_error(mcp: MCPServer, state: Any) -> None:
    """Spec: schema, `requestState` is a string."""
    assert error(send(mcp, message("plain", requestState=state)))[0] == -32602


def test_a_state_may_be_used_once_only() -> None:
    """Spec: basic/patterns/mrtr 5, the warning; ours: RequestStateSecurity(single_use=...), M19."""
    mcp = MCPServer("x", request_state_security=security(single_use=MemoryStateStore()))
    _register(mcp)
    asked, _ = play(mcp, message("order"), accepted(word="x"))
    again = retry(message("order"), asked, {only(asked): accepted(word="x")})
    assert error(send(mcp, again)) == (-32602, REFUSAL)
    assert text(play(mcp, message("order"), accepted(word="x"))[-1]) == "x"


def test_the_store_forgets_what_has_expired() -> None:
    """Ours: its memory is bounded, and where it is full nothing is used twice either."""

    async def main() -> list[bool]:
        store = MemoryStateStore(limit=2)
        return [
            await store.claim("a", NOW + 10, NOW),
            await store.claim("a", NOW + 10, NOW),
            await store.claim("b", NOW + 20, NOW),
            await store.claim("c", NOW + 30, NOW),
            await store.claim("c", NOW + 30, NOW + 15),
            await store.claim("d", NOW + 30, NOW + 15),
        ]

    assert asyncio.run(main()) == [True, False, True, False, True, False]


def test_an_own_codec_may_keep_the_state_on_the_server() -> None:
    """Ours: the protocol is `seal` and `unseal`."""
    kept: dict[str, bytes] = {}

    class Kept:
        def seal(self, payload: bytes) -> str:
            kept[f"t{len(kept)}"] = payload
            return f"t{len(kept) - 1}"

        def unseal(self, token: str) -> bytes:
            if token not in kept:
                raise InvalidRequestState("unknown")
            return kept[token]

    mcp = MCPServer("x", request_state_security=RequestStateSecurity(codec=Kept()))
    _register(mcp)
    asked, done = play(mcp, message("order"), accepted(word="x"))
    assert (asked["result"]["requestState"], text(done)) == ("t0", "x")
    assert error(send(mcp, message("order", requestState="t1"))) == (-32602, REFUSAL)
