"""Names that somebody looks for where they are not: where they are, or what to do instead.

In: a module, a class or an option, and a name that it does not have. Out: the end of a sentence, or the exception to
raise. Names of the official Python SDK, of version 1 and 2, are known; tables of sentences about them are here, and
nowhere else. Imported once a name was missing, and by `leanmcp migrate`.
Ours: an error tells what to write instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from opcode import opmap
from types import FrameType
from typing import Any

from .mistyped import did_you_mean

__all__ = [
    "INSTEAD_OF_MEMBERS",
    "INSTEAD_OF_MODULES",
    "INSTEAD_OF_NAMES",
    "INSTEAD_OF_OPTIONS",
    "OF_CLIENTS",
    "OTHERS",
    "RENAMED",
    "ROOTS",
    "instead_of_name",
    "instead_of_option",
    "is_at",
    "no_member",
    "no_module",
    "no_name",
    "official",
]

ROOTS = ("mcp", "mcp_types")
RENAMED = {"FastMCP": "MCPServer", "McpError": "MCPError"}
"""Names that are others here."""

OTHERS = {
    **dict.fromkeys(
        ("Accepted", "AcceptedElicitation", "Cancelled", "CancelledElicitation", "Declined", "DeclinedElicitation"),
        "leanmcp.elicit",
    ),
    **dict.fromkeys(("Elicit", "ElicitURL", "ElicitationResult", "Resolve", "titled"), "leanmcp.elicit"),
    **dict.fromkeys(("Audit", "Change", "Gate", "Hints", "Pins", "Policy", "Question"), "leanmcp.client"),
    **dict.fromkeys(("ClientRequestContext", "ResponseCache", "ResultChecks", "Subscription"), "leanmcp.client"),
    **dict.fromkeys(
        ("PromptsListChanged", "ResourceUpdated", "ResourcesListChanged", "ToolsListChanged"), "leanmcp.client"
    ),
    **dict.fromkeys(("CacheHint", "CallNext", "Message", "Middleware", "Outcome", "Request"), "leanmcp.server"),
    **dict.fromkeys(("Extension", "MethodBinding", "ResourceSecurity", "ToolBinding"), "leanmcp.server"),
    **dict.fromkeys(("MemoryStateStore", "RequestStateSecurity", "StateStore"), "leanmcp.server"),
    **dict.fromkeys(("InMemorySubscriptionBus", "SubscriptionBus"), "leanmcp.server.subscriptions"),
    "StoredHandles": "leanmcp.server.handles",
    "HTTPOptions": "leanmcp.listen",
    **dict.fromkeys(("HTTPClientLimits", "HTTPTransport"), "leanmcp.transports.http_client"),
    **dict.fromkeys(("InvalidValue", "SchemaError", "Validator"), "leanmcp.schema"),
    **dict.fromkeys(("ClientCredentialsOAuthProvider", "OAuthClientProvider", "TokenStorage"), "leanmcp.oauth"),
}
"""Names that are not in `leanmcp` itself, and where they are; others may be in `leanmcp.types`."""

_SHORTLY = {
    **dict.fromkeys(("FastMCP", "MCP", "Server"), "the server is MCPServer: from leanmcp import MCPServer"),
    "SystemMessage": "the roles are user and assistant; what a model is told first are instructions= of MCPServer",
    "TestClient": "a client of a server in the same program is Client: `async with Client(mcp) as client`",
    "mcp": "make it yourself: from leanmcp import MCPServer; mcp = MCPServer(name)",
    "ClientSession": "the client is Client: `async with Client(url) as client`",
    "McpError": "it is MCPError: from leanmcp import MCPError",
}
"""What to do instead, where the name says enough."""

_CLIENT = "write `async with Client(url) as client`, or Client(StdioServerParameters(...)); it opens streams by itself"
_SAMPLING = (
    'deprecated; answer with input_callbacks={"sampling/createMessage": ...} of Client, ask with InputRequiredResult'
)
_LOGGING = "deprecated; log with `logging`, and tell of progress with ctx.report_progress"
PROTECTED = "servers have no authorization here; put a proxy that checks tokens in front"
_ASGI = 'mcp.run("http", host=..., port=...) serves by itself, without an ASGI application'
_FIELDS = "ctx.headers has the header fields of the request, by names in lower case"
_JOINS = "servers are not put together; register the functions of both on one, mcp.add_tool(function) for each"
_RUNS = 'mcp.run() serves on stdio, mcp.run("http", port=...) on a port'
_LOW = "write it with MCPServer: @mcp.tool(input_schema=...) takes a schema by hand, middleware= sees every request"
_TRANSPORT = 'mcp.run("stdio") and mcp.run("http") open and close it'

INSTEAD_OF_NAMES = {
    "ClientExtension": "declare it with Client(capabilities={'extensions': ...}), call it with client.request(...)",
    "ClientSession": _CLIENT,
    "ClientSessionGroup": "several servers are a ClientGroup: from leanmcp import ClientGroup",
    "CreateMessageRequestParams": _SAMPLING,
    "CreateMessageResult": _SAMPLING,
    "EmptyResult": "a method without a result returns None",
    "ErrorData": "MCPError takes code, message and data itself; of one that was caught, read `.code` and `.message`",
    "EventStore": "streams of 2026-07-28 are not resumed",
    "InitializationOptions": "name, version and instructions are options of MCPServer",
    "InputRequiredRoundsExceededError": "it is RoundLimit: from leanmcp.errors import RoundLimit",
    "InitializeResult": "client.discover() gives what a server says of itself, client.server_info who it is",
    "ListRoots": 'deprecated; ask with InputRequiredResult(input_requests={"roots": {"method": "roots/list"}})',
    "LoggingLevel": "levels are strings",
    "MCPDeprecationWarning": "leave it out",
    "NotificationBinding": "give Client a notification_callback=, which is told method and params",
    "NotificationOptions": "changes are told to clients that listen; there is nothing to declare",
    "RequestContext": "annotate a parameter with Context",
    "Result": "a result of an extension is a dict",
    "Root": "deprecated; a root is the dict {'uri': ..., 'name': ...}",
    "Sample": _SAMPLING,
    "SamplingMessage": _SAMPLING,
    "Server": _LOW,
    "ServerRequestContext": "annotate a parameter with Context",
    "ServerSession": "there is none; what belongs to a request is in Context, and mcp.notify_... tells of changes",
    "SessionMessage": "what travels is not seen; middleware= of MCPServer sees requests",
    "TextResource": "write a function: mcp.add_resource(lambda: text, uri, name=...)",
    "BinaryResource": "write a function: mcp.add_resource(lambda: content, uri, name=...)",
    "FileResource": "mcp.add_file(uri, path)",
    "DirectoryResource": "mcp.add_directory(uri_template, folder)",
    "FunctionResource": "mcp.add_resource(function, uri, name=...)",
    "TransportSecuritySettings": 'give the hosts to mcp.run("http", allowed_hosts=[...], allowed_origins=[...])',
    "UrlElicitationRequiredError": "ask with `await ctx.elicit_url(message, url)`",
    "create_mcp_http_client": "give headers and auth to Client itself",
    "stdio_client": "give Client the StdioServerParameters",
    "stdio_server": _TRANSPORT,
    "streamable_http_client": "give Client the URL",
    "streamablehttp_client": "give Client the URL",
    "websocket_client": "there is no such transport; give Client a Streamable HTTP URL",
}
"""What to do instead of what leanmcp does not have, by the name that is imported."""

INSTEAD_OF_MODULES = {
    "mcp.client.session": _CLIENT,
    "mcp.client.sse": "the HTTP+SSE transport is not spoken; give Client a Streamable HTTP URL",
    "mcp.server.apps": "there is no such extension; see leanmcp.server.Extension",
    "mcp.server.auth": PROTECTED,
    "mcp.server.lowlevel": _LOW,
    "mcp.server.sse": "the HTTP+SSE transport is not served; serve Streamable HTTP: mcp.run('http')",
    "mcp.server.streamable_http": _ASGI,
    "mcp.server.streamable_http_manager": _ASGI,
    "mcp.shared.memory": "Client(mcp) talks to a server in this process",
}
"""The same by the module that it is imported from, for names that are not listed themselves."""

_TAKEN = "a name that is taken is refused; replace=True takes its place"
_TLS = "give an HTTPTransport(url, ssl=...) of leanmcp.transports.http_client in place of the URL"
OF_CLIENTS = {
    **dict.fromkeys(("cert", "http_client", "httpx_client_factory", "limits", "ssl", "verify", "verify_ssl"), _TLS),
    **dict.fromkeys(("args", "command", "cwd", "env"), "give StdioServerParameters(command=..., args=[...])"),
    **dict.fromkeys(("list_roots_callback", "roots"), 'give input_callbacks={"roots/list": ...}, which returns a dict'),
    **dict.fromkeys(
        ("log_handler", "logging_callback", "logging_handler", "message_handler"),
        "give notification_callback=, which is told method and params",
    ),
    **dict.fromkeys(("max_retries", "retries", "retry"), "leave it out; what is done twice may do harm"),
    **dict.fromkeys(("name", "version"), "give client_info=Implementation(name=..., version=...)"),
    **dict.fromkeys(("progress_callback", "progress_handler"), "give progress_callback= to each call_tool"),
    **dict.fromkeys(
        ("sampling_callback", "sampling_handler"),
        'give input_callbacks={"sampling/createMessage": ...}, which returns a dict',
    ),
    **dict.fromkeys(("api_key", "bearer", "token"), "give headers={'Authorization': 'Bearer ...'}"),
    **dict.fromkeys(("elicitation_handler", "elicitation"), "give elicitation_callback="),
    "cookies": "give headers={...}",
    "policy": "give trust=Policy(...), from leanmcp.client",
    **dict.fromkeys(("proxies", "proxy"), "leave it out; the environment's HTTPS_PROXY is used"),
    "protocol_version": "give mode=",
    "auto_initialize": "leave it out; it connects when its block is entered",
    "follow_redirects": "leave it out; 307 and 308 within the origin are followed",
    "init_timeout": "give read_timeout_seconds=",
    "sampling_capabilities": "give capabilities={'sampling': {...}}",
    "transport": "leave it out; the URL, or StdioServerParameters, says it",
}
"""What to do in place of options that other clients have."""

INSTEAD_OF_OPTIONS = {
    "extensions": "give capabilities={'extensions': {...}}; client.request(...) sends any method",
    "auth": PROTECTED,
    "auth_server_provider": PROTECTED,
    "token_verifier": PROTECTED,
    "debug": "errors are always logged whole; leave it out",
    "dependencies": "leave it out; the environment that runs the server has them",
    "log_level": "set the logger up: logging.getLogger('leanmcp').setLevel(...)",
    "host": 'give it to mcp.run("http", host=...)',
    "path": 'give it to mcp.run("http", path=...)',
    "port": 'give it to mcp.run("http", port=...)',
    "json_response": 'give it to mcp.run("http", json_response=...)',
    "stateless_http": "leave it out; it always is",
    "streamable_http_path": 'give it to mcp.run("http", path=...)',
    "mount_path": "there is no HTTP+SSE transport; give mcp.run a path=",
    "transport_security": 'give mcp.run("http", allowed_hosts=[...], allowed_origins=[...])',
    "event_store": "leave it out; streams of 2026-07-28 are not resumed",
    "resource_security": "give security=ResourceSecurity(...) to each @mcp.resource",
    "resources": "call mcp.add_resource for each",
    "tools": "call mcp.add_tool for each",
    **dict.fromkeys(("warn_on_duplicate_prompts", "warn_on_duplicate_tools"), _TAKEN),
    "warn_on_duplicate_resources": "a URI that is taken is refused; replace=True takes its place",
    **{
        name: OF_CLIENTS[name]
        for name in (
            "list_roots_callback",
            "logging_callback",
            "message_handler",
            "sampling_callback",
            "sampling_capabilities",
        )
    },
}
"""The same by the name of an option of a constructor, of `run` or of a decorator."""

_NO_TAGS = "leave it out; there are no tags, and meta={'tags': [...]} tells clients of some"
_NO_SESSIONS = "leave it out; there are no sessions"
_NO_SSE = 'there is no HTTP+SSE transport; give mcp.run("http", path=...) the path of the endpoint'
_HINTED = "give annotations=ToolAnnotations({}=...), from leanmcp.types import ToolAnnotations"
_OTHER_OPTIONS: dict[str, dict[str, str]] = {
    "MCPServer": {
        **dict.fromkeys(("on_duplicate", "on_duplicate_prompts", "on_duplicate_tools"), _TAKEN),
        "on_duplicate_resources": INSTEAD_OF_OPTIONS["warn_on_duplicate_resources"],
        **dict.fromkeys(("include_tags", "exclude_tags"), "there are no tags; mcp.disable_tool(name) hides a tool"),
        **dict.fromkeys(("message_path", "sse_path"), _NO_SSE),
        **dict.fromkeys(("retry_interval", "session_idle_timeout", "session_timeout"), _NO_SESSIONS),
        **dict.fromkeys(("sampling_handler", "sampling_handler_behavior"), "leave it out; a server has no model here"),
        **dict.fromkeys(("on_startup", "on_shutdown", "startup"), "give lifespan=, which opens and closes"),
        "prompts": "call mcp.add_prompt for each",
        "timeout": "give it to each tool, @mcp.tool(timeout=...)",
        "capabilities": "leave it out; they follow from what is registered",
        "mask_error_details": "leave it out; only the text of a ToolError leaves the server",
        "resource_prefix_format": "leave it out; servers are not put together",
        "strict_input_validation": "leave it out; it always is, and coerce=False takes no JSON in strings either",
        "tasks": "leave it out; a long call reports how far it is: await ctx.report_progress(...)",
        "tool_serializer": "leave it out; return the text that is to be sent",
    },
    "": {  # of decorators, and the methods that they stand for
        **dict.fromkeys(("destructiveHint", "destructive", "destructive_hint"), _HINTED.format("destructive_hint")),
        **dict.fromkeys(("idempotentHint", "idempotent", "idempotent_hint"), _HINTED.format("idempotent_hint")),
        **dict.fromkeys(("openWorldHint", "open_world", "open_world_hint"), _HINTED.format("open_world_hint")),
        **dict.fromkeys(("readOnlyHint", "readonly", "read_only", "read_only_hint"), _HINTED.format("read_only_hint")),
        **dict.fromkeys(("fn", "func", "function"), "the function comes first, without a name"),
        **dict.fromkeys(
            ("cache_ttl", "max_age", "ttl"), "a resource has cache=CacheHint(ttl_ms=...); no other result is kept"
        ),
        "arguments": "leave it out; they are the parameters of the function",
        "enabled": "leave it out; mcp.disable_tool, disable_prompt and disable_resource hide what is registered",
        "exclude_args": "annotate what the client must not send: Annotated[Type, Depends(function)]",
        "serializer": "leave it out; return the text that is to be sent",
        "tags": _NO_TAGS,
        "task": "leave it out; a long call reports how far it is: await ctx.report_progress(...)",
        "version": "leave it out; only the server has one, MCPServer(name, version=...)",
    },
}
"""The same of FastMCP 2 and of web frameworks, by what has the option."""

_ASK = "ask as a client does: async with Client(mcp) as client"

_ASKED = "call_tool connect get_prompt get_prompts get_resources initialize list_prompts list_resource_templates"
INSTEAD_OF_MEMBERS = {
    **dict.fromkeys(f"{_ASKED} list_resources prompts read_resource resources".split(), _ASK),
    **dict.fromkeys(("app", "asgi", "http_app", "session_manager", "sse_app", "streamable_http_app"), _ASGI),
    **dict.fromkeys(("as_proxy", "import_server", "mount"), _JOINS),
    **dict.fromkeys(("get_tool", "get_tools"), "mcp.tools has them"),
    "send_progress_notification": "a client of 2026-07-28 tells of no progress",
    "from_fastapi": "call the other server's functions from tools of this one",
    "from_openapi": "write a tool for each operation that a model is to use",
    "get_context": "annotate a parameter with Context, as in `def tool(ctx: Context)`",
    "run_http_async": "await mcp.run_async('http', port=...)",
    "send_roots_list_changed": "a client of 2026-07-28 tells of no changes",
    "list_tools": f"mcp.tools has them; or {_ASK}",
    "custom_route": "serve other pages with a proxy in front, or a server of their own on another port",
    "run_sse_async": "the HTTP+SSE transport is not served; await mcp.run_async('http')",
    "run_stdio_async": "await mcp.run_async()",
    "run_streamable_http_async": "await mcp.run_async('http', port=...)",
    "settings": "give host, port and the like to mcp.run('http', ...)",
    "close_sse_stream": "leave it out; streams of 2026-07-28 are not resumed",
    "close_standalone_sse_stream": "leave it out; there is no such stream",
    "session": "there is none; what it can do, the context or the client can",
    **dict.fromkeys(("create_message", "sample", "sampling"), _SAMPLING),
    **dict.fromkeys(("get_state", "set_state"), "set attributes of ctx.state; they last as long as the request"),
    **dict.fromkeys(("arguments", "args", "params"), "the parameters of the function have them"),
    **dict.fromkeys(("get_access_token", "user"), "middleware signs people in, and sets an attribute of ctx.state"),
    **dict.fromkeys(("cookies", "get_http_headers", "get_http_request", "http", "request", "request_headers"), _FIELDS),
    "client_id": "there are no sessions; ctx.client_info says what the client calls itself",
    "session_id": "there are no sessions; state between calls has a name: from leanmcp import Handles",
    "dependency_overrides": "write `with mcp.override(function, fake):`",
    "elicit_form": "write `await ctx.elicit(message, Form)`",
    "icons": "they are told with the name; give icons=[...] to MCPServer",
    "list_roots": INSTEAD_OF_NAMES["ListRoots"],
    "sampling_handler": "leave it out; a server has no model here",
    "send_notification": "an Extension has notifications of its own; changes are told with mcp.notify_...",
    "tags": "there are no tags",
    **dict.fromkeys(("add_middleware", "use"), "write mcp.middleware.append(function), or @mcp.middleware above it"),
    **dict.fromkeys(("close", "shutdown", "stop"), "it ends at end of input, Ctrl-C or SIGTERM by itself"),
    **dict.fromkeys(("critical", "debug", "error", "info", "log", "logger", "warn", "warning"), _LOGGING),
    **dict.fromkeys(("get", "post", "route"), "serve other pages with a proxy in front, or a server of their own"),
    **dict.fromkeys(("function", "register", "register_tool", "tool_handler"), "write @mcp.tool above the function"),
    **dict.fromkeys(("main", "run_forever", "run_http", "run_stdio", "serve", "start", "start_server"), _RUNS),
    **dict.fromkeys(("fastmcp", "mcp", "mcp_server", "server"), "use the server that the module made"),
    **dict.fromkeys(("on_event", "on_shutdown", "on_startup", "startup"), "write MCPServer(name, lifespan=...)"),
    **dict.fromkeys(("progress_notification", "set_logging_level"), "leave it out; 2026-07-28 has no such request"),
    "resource_template": "a URI with a {variable} makes a template: @mcp.resource('data://{name}')",
    **dict.fromkeys(("subscribe_resource", "unsubscribe_resource"), "clients listen; tell them with mcp.notify_..."),
    "elicit": "ask in a tool: `await ctx.elicit(message, Form)`",
    "is_cancelled": "it is `ctx.cancelled`",
    "tool_name": "the function knows its own; middleware has request.name",
}
"""The same by the name of a member of a server, a context or a client."""

_SERVER_IS = "the server is MCPServer: from leanmcp import MCPServer, Context"
_ERRORS_ARE = "errors are in leanmcp: from leanmcp import MCPError, ToolError; all of them in leanmcp.errors"
_MESSAGES_ARE = "messages are in leanmcp: from leanmcp import UserMessage, AssistantMessage; register with @mcp.prompt"
_OVER_STDIO = "give Client the parameters: from leanmcp import Client, StdioServerParameters"
_OVER_HTTP = "give Client the URL: from leanmcp import Client"
_NO_MODULES = {
    **dict.fromkeys(("prompts", "server.fastmcp.prompts", "server.mcpserver.prompts"), _MESSAGES_ARE),
    **dict.fromkeys(
        ("exceptions", "server.exceptions", "server.fastmcp.exceptions", "server.mcpserver.exceptions", "shared"),
        _ERRORS_ARE,
    ),
    **dict.fromkeys(("app", "fastmcp", "server.fastmcp", "server.mcpserver", "server.server"), _SERVER_IS),
    "auth": PROTECTED,
    **dict.fromkeys(("client.auth", "shared.auth"), "from leanmcp.oauth import OAuthClientProvider"),
    "client.stdio": _OVER_STDIO,
    "client.streamable_http": _OVER_HTTP,
    "context": "from leanmcp import Context",
    "resources": "register functions with @mcp.resource(uri)",
    "server.elicitation": "from leanmcp.elicit import AcceptedElicitation",
    "server.models": INSTEAD_OF_NAMES["InitializationOptions"],
    "server.session": INSTEAD_OF_NAMES["ServerSession"],
    "server.stdio": _TRANSPORT,
    "server.transport_security": INSTEAD_OF_NAMES["TransportSecuritySettings"],
    "session": INSTEAD_OF_NAMES["ServerSession"],
    "tools": "register functions with @mcp.tool",
    **dict.fromkeys(("server.mcpserver.utilities", "utilities"), "from leanmcp import Image, Audio, File"),
    **{path.partition(".")[2]: told for path, told in INSTEAD_OF_MODULES.items()},
}
"""What to import instead of a module that there is not, by its path below `leanmcp`."""

_CONTENT = ("AudioContent", "CallToolResult", "EmbeddedResource", "ImageContent", "ResourceLink", "TextContent")
_OFFICIAL = {
    **dict.fromkeys(_CONTENT, "leanmcp.types"),
    **dict.fromkeys(("Audio", "Context", "Image", "MCPError", "ResourceError", "ToolError"), "leanmcp"),
    **dict.fromkeys(("InputRequiredResult", "ToolAnnotations"), "leanmcp.types"),
    "McpError": "leanmcp",
}
"""Classes of the official SDK that mean something here, where they are leanmcp's own."""
_ALIKE = 0.7  # of two names, at least; words of other kinds of things are often as alike as 0.65
_IMPORT_FROM = opmap["IMPORT_FROM"]


def official(kind: type) -> str:
    """Return what to import in place of a class of the official SDK, empty for every other class."""
    if kind.__module__.partition(".")[0] not in ROOTS or kind.__name__ not in _OFFICIAL:
        return ""
    ours = RENAMED.get(kind.__name__, kind.__name__)
    return f"this {kind.__name__} is the official SDK's: from {_OFFICIAL[kind.__name__]} import {ours}"


def is_at(module: str, name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that says where a name is, empty where nobody knows.

    Args:
        module: where it was looked for.
        name: that is not there.
        known: those that are.
    """
    if name in _SHORTLY:
        return f"; {_SHORTLY[name]}"
    home = OTHERS.get(name) or _home_of(name)
    if home is not None and home != module:
        return f"; it is in {home}: from {home} import {name}"
    if told := instead_of_name(name):
        return f"; {told}"
    instead = _NO_MODULES.get(f"{module}.{name}".partition(".")[2])
    return did_you_mean(name, known) if instead is None else f"; {instead}"


def instead_of_name(name: str) -> str:
    """Return what to write instead of a name of the official SDK that is nowhere here; empty where nobody knows."""
    if name in INSTEAD_OF_NAMES:
        return INSTEAD_OF_NAMES[name]
    if name.endswith(("Request", "Notification", "RequestParams", "NotificationParams")):
        return "messages have no types of their own; Client has a method for each request, and request(method, params)"
    if name.isupper():
        return "codes of errors are classes of leanmcp.errors; write other constants out"
    return "capabilities are plain dicts" if name.endswith(("Capability", "Capabilities")) else ""


def _home_of(name: str) -> str | None:
    if not name[:1].isupper():
        return "leanmcp" if name in import_module("leanmcp").__all__ else None
    homes = ("leanmcp", "leanmcp.types", "leanmcp.errors")
    return next((home for home in homes if name in import_module(home).__all__), None)


def no_name(module: str, name: str, known: Iterable[str], asker: FrameType) -> Exception:
    """Return what to raise where a module has no such name.

    Args:
        module: its path.
        name: that is looked for.
        known: its names.
        asker: the frame that looks; the text of an AttributeError would be lost in `from module import name`.
    """
    if name.startswith("_"):
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    imports = asker.f_lasti >= 0 and asker.f_code.co_code[asker.f_lasti] == _IMPORT_FROM
    where = "" if asker.f_code.co_name == "_handle_fromlist" else is_at(module, name, known)
    if imports:
        return ImportError(f"cannot import {name!r} from {module!r}{where}", name=module)
    return AttributeError(f"module {module!r} has no attribute {name!r}{where}")


def no_module(path: str) -> str:
    """Return the end of a sentence that says what to import in place of a module of ours that there is not."""
    path = path.partition(".")[2]
    side = path.partition(".")[0]
    while path not in _NO_MODULES and path:
        path = path.rpartition(".")[0]
    if path:
        return f"; {_NO_MODULES[path]}"
    return f"; what there is of it is in leanmcp.{side}, or in leanmcp" if side in ("client", "server") else ""


def instead_of_option(owner: str, option: str) -> str:
    """Return the end of a sentence about an option that there is not, empty where nothing is known of it.

    Args:
        owner: "MCPServer", or the function behind a decorator, such as "add_tool".
        option: its name.
    """
    instead = _OTHER_OPTIONS.get(owner, _OTHER_OPTIONS[""]).get(option)
    if instead is None and owner == "MCPServer":
        instead = INSTEAD_OF_OPTIONS.get(option)
    return "" if instead is None else f"; {instead}"


def no_member(owner: Any, name: str) -> AttributeError:
    """Return what to raise where an object of ours has no such attribute; Python's own for names of no interest.

    Args:
        owner: a server, a context or a client.
        name: that is looked for, and not found.
    """
    kind = type(owner)
    try:
        object.__getattribute__(owner, name)
    except AttributeError as error:
        if name.startswith("_") or str(error) != f"{kind.__name__!r} object has no attribute {name!r}":
            return error  # of a property that failed, or an `Absent`, which says why itself
    instead = INSTEAD_OF_MEMBERS.get(name)
    public = [known for known in dir(kind) if not known.startswith("_") and hasattr(kind, known)]
    hint = did_you_mean(name, public, cutoff=_ALIKE) if instead is None else f"; {instead}"
    # With the name, and without the object, Python has no proposal of its own, which may be a private one.
    return AttributeError(f"{kind.__name__!r} object has no attribute {name!r}{hint}", name=name)
