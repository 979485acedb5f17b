"""The specification's own examples, and its schema, against what leanmcp reads and writes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from leanmcp import Field, Header, MCPServer, ToolError, types
from leanmcp.errors import HeaderMismatch, MCPError, MissingRequiredClientCapability, UnsupportedProtocolVersion
from leanmcp.protocol import jsonrpc, meta
from leanmcp.server import completion, prompts, resource
from leanmcp.server.client_requests import read_response, request_of
from leanmcp.server.form_rules import primitive
from leanmcp.server.forms import check_form
from leanmcp.server.line_endpoint import CancelledParams
from leanmcp.types import Icon, ToolAnnotations
from tests.support.spec import AVAILABLE, ERRORS, FOLDER, REASON, RESULTS, check_response, request

pytestmark = pytest.mark.skipif(not AVAILABLE, reason=REASON)

TYPES: dict[str, Any] = {
    "AudioContent": types.AudioContent,
    "BlobResourceContents": types.BlobResourceContents,
    "CallToolResult": types.CallToolResult,
    "ClientCapabilities": dict,
    "CompleteResult": types.CompleteResult,
    "DiscoverResult": types.DiscoverResult,
    "ElicitRequestFormParams": types.ElicitRequestFormParams,
    "ElicitRequestURLParams": types.ElicitRequestURLParams,
    "ElicitResult": types.ElicitResult,
    "EmbeddedResource": types.EmbeddedResource,
    "GetPromptResult": types.GetPromptResult,
    "ImageContent": types.ImageContent,
    "InputRequiredResult": types.InputRequiredResult,
    "ListPromptsResult": types.ListPromptsResult,
    "ListResourceTemplatesResult": types.ListResourceTemplatesResult,
    "ListResourcesResult": types.ListResourcesResult,
    "ListToolsResult": types.ListToolsResult,
    "ReadResourceResult": types.ReadResourceResult,
    "Resource": types.Resource,
    "ResourceLink": types.ResourceLink,
    "TextContent": types.TextContent,
    "TextResourceContents": types.TextResourceContents,
    "Tool": types.Tool,
}
# What the schema gives an absent member, and what the type alone says: it may be left out.
COMPLETE = {"resultType": "complete"}
CACHEABLE = COMPLETE | {"ttlMs": 0, "cacheScope": "private"}
DEFAULTS: dict[str, dict[str, Any]] = {
    "CallToolResult": COMPLETE | {"isError": False},
    "CompleteResult": COMPLETE,
    "DiscoverResult": CACHEABLE,
    "ElicitRequestFormParams": {"mode": "form"},
    "ElicitRequestURLParams": {"mode": "url"},
    "GetPromptResult": COMPLETE,
    "InputRequiredResult": {"resultType": "input_required"},
    "ListPromptsResult": CACHEABLE,
    "ListResourceTemplatesResult": CACHEABLE,
    "ListResourcesResult": CACHEABLE,
    "ListToolsResult": CACHEABLE,
    "ReadResourceResult": COMPLETE,
}
RESPONSES = {f"{name}Response": name for name in TYPES if (FOLDER / "examples" / f"{name}Response").is_dir()}
REQUESTS = {
    "CallToolRequest": meta.CallToolParams,
    "CompleteRequest": completion.CompleteParams,
    "DiscoverRequest": meta.Params,
    "GetPromptRequest": prompts.GetPromptParams,
    "ListPromptsRequest": meta.ListParams,
    "ListResourceTemplatesRequest": meta.ListParams,
    "ListResourcesRequest": meta.ListParams,
    "ListToolsRequest": meta.ListParams,
    "ReadResourceRequest": resource.ReadResourceParams,
    "SubscriptionsListenRequest": meta.ListenParams,
}
PARAMS = {
    "CallToolRequestParams": meta.CallToolParams,
    "CompleteRequestParams": completion.CompleteParams,
    "GetPromptRequestParams": prompts.GetPromptParams,
    "PaginatedRequestParams": meta.ListParams,
}
FIELDS = [
    "BooleanSchema",
    "NumberSchema",
    "StringSchema",
    "TitledMultiSelectEnumSchema",
    "TitledSingleSelectEnumSchema",
    "UntitledMultiSelectEnumSchema",
    "UntitledSingleSelectEnumSchema",
]
ASKED = ["CreateMessageRequest", "ElicitRequest", "ListRootsRequest"]
ANSWERED = {"CreateMessageResult": "sampling/createMessage", "ListRootsResult": "roots/list"}
FAULTS = [name for name in ERRORS.values() if (FOLDER / "examples" / name).is_dir()]
CANCELLED = ["CancelledNotification", "CancelledNotificationParams"]
GROUPS = ["InputRequests", "InputResponses"]
SENT = {
    "ProgressNotification",
    "PromptListChangedNotification",
    "ResourceListChangedNotification",
    "ResourceUpdatedNotification",
    "SubscriptionsAcknowledgedNotification",
    "SubscriptionsListenResult",
    "SubscriptionsListenResultResponse",
    "ToolListChangedNotification",
}
"""What a server makes without a type of its own; `tests/server/test_every_method.py` holds it against the schema."""
NEVER_MADE = {
    "CreateMessageRequestParams",
    "LoggingMessageNotification",
    "LoggingMessageNotificationParams",
    "ModelPreferences",
    "ProgressNotificationParams",
    "ResourceUpdatedNotificationParams",
    "Root",
    "SamplingMessage",
    "ServerCapabilities",
    "ToolResultContent",
    "ToolUseContent",
}
"""Parts of the messages above, and what is deprecated: passed on as it is, if at all."""


def examples(names: Any) -> list[Any]:
    """Return the example files of some definitions."""
    files = [(name, file) for name in names for file in sorted((FOLDER / "examples" / name).glob("*.json"))]
    return [pytest.param(name, file, id=f"{name}-{file.stem}") for name, file in files]


def test_every_example_is_used() -> None:
    """Ours: a new kind of example is found, and either read or left out on purpose."""
    groups = [TYPES, RESPONSES, REQUESTS, PARAMS, FIELDS, ASKED, ANSWERED, FAULTS, CANCELLED, GROUPS, SENT, NEVER_MADE]
    known = [name for group in groups for name in group]
    assert len(known) == len(set(known))
    assert {folder.name for folder in (FOLDER / "examples").iterdir()} <= set(known)


def check_type(name: str, data: bytes) -> None:
    """Decode and encode a value, and hold the one against the other."""
    example, defaults = msgspec.json.decode(data), DEFAULTS.get(name, {})
    decoded = msgspec.json.decode(data, type=TYPES[name])
    assert defaults | msgspec.json.decode(msgspec.json.encode(decoded)) == defaults | example


@pytest.mark.parametrize(("name", "file"), examples(TYPES))
def test_example_decodes_and_encodes_to_an_equal_value(name: str, file: Path) -> None:
    """Spec: the examples of the schema."""
    check_type(name, file.read_bytes())


@pytest.mark.parametrize(("name", "file"), examples(RESPONSES))
def test_example_response_holds_a_result_that_is_read(name: str, file: Path) -> None:
    """Spec: the examples of the schema; one of resources/read lacks the cache hint that the schema demands."""
    check_type(RESPONSES[name], msgspec.json.encode(msgspec.json.decode(file.read_bytes())["result"]))
    assert name in RESULTS.values()


@pytest.mark.parametrize(("name", "file"), examples(REQUESTS))
def test_example_request_is_read(name: str, file: Path) -> None:
    """Spec: the examples of the schema; their params carry the `_meta` of a request."""
    envelope = jsonrpc.decode(file.read_bytes())
    params = meta.decode_params(envelope.params, msgspec.json.Decoder(REQUESTS[name]))
    assert params.meta.protocol_version == "2026-07-28"


@pytest.mark.parametrize(("name", "file"), examples(PARAMS))
def test_example_params_are_read(name: str, file: Path) -> None:
    """Spec: the examples of the schema."""
    params = meta.decode_params(file.read_bytes(), msgspec.json.Decoder(PARAMS[name]))
    assert params.meta.protocol_version == "2026-07-28"


@pytest.mark.parametrize(("name", "file"), examples(CANCELLED))
def test_example_cancellation_is_read(name: str, file: Path) -> None:
    """Spec: the examples of notifications/cancelled name their request."""
    expected = msgspec.json.decode(file.read_bytes())
    params: bytes | msgspec.Raw = file.read_bytes()
    if name == "CancelledNotification":
        envelope = jsonrpc.decode(file.read_bytes())
        assert envelope.id is msgspec.UNSET
        expected, params = expected["params"], envelope.params
    assert msgspec.json.decode(params, type=CancelledParams).request_id == expected["requestId"]


@pytest.mark.parametrize(("name", "file"), examples(FIELDS))
def test_example_field_is_one_of_our_forms(name: str, file: Path) -> None:
    """Spec: client/elicitation, "Requested Schema": nothing that a form may hold is refused or rewritten."""
    schema = msgspec.json.decode(file.read_bytes())
    assert primitive("field", dict(schema)) == schema
    check_form({"message": "m", "requestedSchema": {"type": "object", "properties": {"colour": schema}}})


@pytest.mark.parametrize(("name", "file"), examples(ASKED))
def test_example_request_to_a_client_may_be_asked(name: str, file: Path) -> None:
    """Spec: basic/patterns/mrtr, "InputRequests"; as it was written."""
    example = msgspec.json.decode(file.read_bytes())
    assert request_of(example) == example


@pytest.mark.parametrize(("name", "file"), examples(ANSWERED))
def test_example_answer_of_a_client_is_taken(name: str, file: Path) -> None:
    """Spec: basic/patterns/mrtr, "InputResponses"; as it came, and never for an answer of another kind."""
    raw = msgspec.Raw(file.read_bytes())
    assert read_response(ANSWERED[name], raw) == msgspec.json.decode(raw)
    assert read_response("elicitation/create", raw) is None


def test_examples_of_several_questions_fit_their_answers() -> None:
    """Spec: basic/patterns/mrtr, "InputRequests" and "InputResponses"."""
    [asked], [answered] = [[*(FOLDER / "examples" / name).glob("*.json")] for name in GROUPS]
    requests = {key: request_of(value) for key, value in msgspec.json.decode(asked.read_bytes()).items()}
    responses = msgspec.json.decode(answered.read_bytes(), type=dict[str, msgspec.Raw])
    assert requests.keys() == responses.keys()
    assert all(read_response(requests[key]["method"], raw) is not None for key, raw in responses.items())


@pytest.mark.parametrize(("name", "file"), examples(FAULTS))
def test_example_error_is_what_ours_become(name: str, file: Path) -> None:
    """Spec: basic/index, "Error Codes"; each with the class that has its code."""
    example = msgspec.json.decode(file.read_bytes())
    error = example.get("error", example)
    assert ERRORS[error["code"]] == name
    sent = msgspec.json.decode(jsonrpc.encode_error(MCPError(error["code"], error["message"], error.get("data")), 1))
    assert sent == {"jsonrpc": "2.0", "id": 1, "error": error}
    check_response(sent)


def test_answers_to_every_method_fit_the_schema() -> None:
    """Spec: discover, list and call, with every member that we can send."""
    icons = [Icon(src="https://example.com/i.svg", mime_type="image/svg+xml", sizes=["any"], theme="dark")]
    mcp = MCPServer("all", "All", "Everything", "Be kind.", "https://example.com", icons, "1.0", schema_titles=True)

    async def tool(a: int, region: str = Field(default="eu", description="Where.")) -> dict[str, list[int]]:
        """Do it."""
        if a < 0:
            raise ToolError("negative")
        return {"a": [a]}

    mcp.add_tool(
        tool, "one", "One", None, ToolAnnotations(title="One", read_only_hint=True), icons, {"com.example/a": 1}
    )

    async def main() -> None:
        assert "result" in await request(mcp, "server/discover", {})
        assert len((await request(mcp, "tools/list", {}))["result"]["tools"]) == 1
        for arguments in ({"a": 1}, {"a": -1}, {"a": "x"}):
            assert "result" in await request(mcp, "tools/call", {"name": "one", "arguments": arguments})
        for method, params in (
            ("nope", {}),
            ("initialize", {}),
            ("tools/call", {"name": "two"}),
            ("tools/list", {"cursor": "x"}),
        ):
            assert "error" in await request(mcp, method, params)

    asyncio.run(main())


def test_header_annotation_survives_in_the_published_schema() -> None:
    """Spec: server/tools, "x-mcp-header"."""
    from typing import Annotated

    mcp = MCPServer("x")

    async def tool(region: Annotated[str, Header("Region")]) -> str:
        return region

    mcp.add_tool(tool)
    listed = asyncio.run(request(mcp, "tools/list", {}))["result"]["tools"][0]
    assert listed["inputSchema"]["properties"]["region"]["x-mcp-header"] == "Region"


@pytest.mark.parametrize(
    "error",
    [
        HeaderMismatch("x"),
        MissingRequiredClientCapability("x", {"sampling": {}}),
        UnsupportedProtocolVersion("1900-01-01", ["2026-07-28"]),
        MCPError(4711, "x", [1]),
    ],
)
def test_errors_fit_the_schema(error: MCPError) -> None:
    """Spec: schema page, errors."""
    check_response(msgspec.json.decode(jsonrpc.encode_error(error, "id")))
    check_response(msgspec.json.decode(jsonrpc.encode_error(error, None)))
