"""The basket: state between calls, over stdio and over HTTP, in a conversation of several requests."""

from __future__ import annotations

import http.client
import subprocess
from collections.abc import Callable
from typing import Any

from tests.support.processes import DEADLINE, ROOT, VERSION, call, encode, http_server, request, stdio_server
from tests.support.spec import read

BASKET = ROOT / "examples" / "basket" / "server.py"
Ask = Callable[[dict[str, Any]], dict[str, Any]]


def converse(ask: Ask) -> None:
    """Create a basket, fill it, show it, throw it away, and use it once more."""
    listed = ask(request("tools/list"))["result"]["tools"]
    assert [tool["name"] for tool in listed] == ["create_basket", "add_item", "show_basket", "delete_basket"]
    assert listed[0]["description"] == "Create a shopping basket. Baskets expire after 24 hours without use."

    created = ask(call("create_basket"))["result"]["structuredContent"]
    basket = created["basket_id"]
    assert basket.startswith("bsk_")
    assert created["items"] == {}
    ask(call("add_item", {"basket_id": basket, "sku": "pen", "count": 2}))
    filled = ask(call("add_item", {"basket_id": basket, "sku": "pen"}))["result"]
    assert filled["structuredContent"] == {"basket_id": basket, "items": {"pen": 3}}
    other = ask(call("create_basket"))["result"]["structuredContent"]["basket_id"]
    assert ask(call("show_basket", {"basket_id": other}))["result"]["structuredContent"]["items"] == {}
    assert ask(call("show_basket", {"basket_id": basket}))["result"]["structuredContent"]["items"] == {"pen": 3}

    assert ask(call("delete_basket", {"basket_id": basket}))["result"]["isError"] is False
    gone = ask(call("show_basket", {"basket_id": basket}))["result"]
    assert gone["isError"]
    expected = f"basket '{basket}' is expired or unknown; create a new one with create_basket"
    assert gone["content"] == [{"type": "text", "text": expected}]


def test_basket_is_kept_between_calls_on_stdio() -> None:
    """Spec: server/tools, "Stateful Tools"."""
    with stdio_server(BASKET) as process:
        converse(lambda message: _ask_process(process, message))


def _ask_process(process: subprocess.Popen[bytes], message: dict[str, Any]) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(encode(message) + b"\n")
    process.stdin.flush()
    answer: dict[str, Any] = read(process.stdout.readline())
    return answer


def test_basket_is_kept_between_connections_on_http() -> None:
    """Spec: server/tools, "Stateful Tools": the handle alone relates calls of different connections."""
    with http_server(BASKET) as server:
        converse(lambda message: _ask_http(server.port, message))


def _ask_http(port: int, message: dict[str, Any]) -> dict[str, Any]:
    headers = {"Content-Type": "application/json", "MCP-Protocol-Version": VERSION, "Mcp-Method": message["method"]}
    if "name" in message["params"]:
        headers["Mcp-Name"] = message["params"]["name"]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
    connection.request("POST", "/mcp", encode(message), headers)
    answer: dict[str, Any] = read(connection.getresponse().read())
    connection.close()
    return answer
