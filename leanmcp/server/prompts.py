"""Prompts: what prompts/list says of them, and prompts/get.

In: the params of one request. Out: segments, or MCPError raised. Arguments are texts on the wire; a parameter of
another type gets what the text stands for, see `leanmcp.server.texts`. An empty text for a parameter that is no `str`
and has a default is left out, as forms mean it.
Spec 2026-07-28: server/prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import InvalidParams
from ..mistyped import did_you_mean
from ..protocol.jsonrpc import DECODE_FAULTS, Segments
from ..protocol.meta import ListParams, RetryParams
from ..schema import faults as say
from ..schema.faults import Fault
from ..types import Icon, PromptArgument
from ..types import Prompt as PromptEntry
from .app import Method
from .calling import Callee, Home, InputRequired
from .context import Context, Exchange
from .failures import protocol_error
from .lists import Registry
from .prompt_messages import MessageEncoder
from .registration import ToolOptions, check_entry, check_limit, checked_icons, checked_name, described
from .signature import InvalidArguments, Signature
from .texts import argument_reader, is_structured, offered, read_texts
from .tool import object_of

if TYPE_CHECKING:
    from .app import MCPServer

__all__ = ["Prompt", "PromptSpec", "Prompts", "make_prompt"]

_decode_texts = msgspec.json.Decoder(dict[str, str]).decode


class GetPromptParams(RetryParams, frozen=True, kw_only=True):
    """Params of prompts/get; the arguments stay bytes until the prompt is known."""

    name: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


# --- arguments --------------------------------------------------------------------------------------------------------


class Arguments:
    """The arguments of one prompt.

    Args:
        signature: of its function.

    Attributes:
        entries: as they are listed.
        offered: by name, the values that the types spell out.
    """

    def __init__(self, signature: Signature) -> None:
        self._signature = signature
        self._structured: set[str] = set()
        self._readers: dict[str, Callable[[str], Any]] = {}
        self.entries: list[PromptArgument] = []
        self.offered: dict[str, tuple[str, ...]] = {}
        for entry in signature.properties:
            notes = entry.node.notes
            self.entries.append(
                PromptArgument(
                    name=entry.wire_name, title=notes.title, description=notes.description, required=entry.required
                )
            )
            self.offered[entry.wire_name] = offered(entry.node)
            if is_structured(entry.node):
                self._structured.add(entry.wire_name)
            reader = argument_reader(entry)
            if reader is not None:
                self._readers[entry.wire_name] = reader

    def bind(self, raw: msgspec.Raw) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of the function.

        Raises:
            InvalidParams: they do not fit; the text names each fault.
        """
        data = object_of(raw, "an object whose values are strings")
        try:
            texts = _decode_texts(data)
        except DECODE_FAULTS:
            raise InvalidParams(self._no_texts(data)) from None
        try:
            return self._signature.read(read_texts(self._readers, texts))
        except InvalidArguments as refusal:
            told = [self._told_how(fault) for fault in refusal.faults]
            raise InvalidParams(self._signature.refusal(told)) from None

    def _no_texts(self, data: bytes) -> str:
        """Say which arguments are no strings."""
        try:
            values = msgspec.json.decode(data, type=dict[str, Any])
        except DECODE_FAULTS:
            values = {}
        wrong = [
            Fault(name, f"{say.expected('string')}; every argument of a prompt travels as a string", value)
            for name, value in values.items()
            if not isinstance(value, str)
        ]
        return self._signature.refusal(wrong) if wrong else "Invalid params: `arguments` cannot be read"

    def _told_how(self, fault: Fault) -> Fault:
        """Return the fault of a text that should hold an array or an object, with the way to write one."""
        if fault.kind == "type" and fault.path in self._structured:
            return msgspec.structs.replace(fault, message=f"{fault.message} in JSON")
        return fault


# --- prompts ----------------------------------------------------------------------------------------------------------


class Prompt:
    """A registered prompt.

    Args:
        callee: its function.
        arguments: the plan of its arguments.
        entry: what prompts/list says of it.
    """

    __slots__ = ("_callee", "_results", "arguments", "entry", "name")

    def __init__(self, callee: Callee, arguments: Arguments, entry: PromptEntry) -> None:
        self.name = entry.name
        self.entry = entry
        self.arguments = arguments
        self._callee = callee
        self._results = MessageEncoder(callee.home.server_info, entry.description)

    async def get(self, params: GetPromptParams, exchange: Exchange) -> Segments:
        """Run the function and return the response that carries its messages, or that asks the client first.

        Raises:
            InvalidParams: the arguments do not fit.
            MCPError: the function failed; see `failures.protocol_error`.
        """
        args, kwargs = self.arguments.bind(params.arguments)
        callee = self._callee
        try:
            value = await callee.call(args, kwargs, params, exchange)
            if callee.home.sanitize is not None:
                value = callee.home.sanitize(value)
            return self._results.encode(value, exchange.id)
        except InputRequired as asked:
            return callee.ask(asked, params, exchange)
        except BaseException as error:
            raise protocol_error(error, "prompt", self.name, callee.home) from None


class PromptSpec(msgspec.Struct, kw_only=True):
    """What the author of one prompt said about it; see `MCPServer.add_prompt`."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    icons: Sequence[Icon] | None = None
    meta: dict[str, Any] | None = None
    timeout: float | None = None
    thread: bool | None = None

    def __post_init__(self) -> None:
        check_limit("timeout", self.timeout)


def make_prompt(function: Callable[..., Any], spec: PromptSpec, options: ToolOptions, home: Home) -> Prompt:
    """Return the prompt that `function` makes.

    Raises:
        TypeError, ValueError: as `MCPServer.add_prompt`.
    """
    name = checked_name(function, spec.name, options, "prompt")
    description, texts = described(function, name, spec.description, "prompt")
    signature = Signature(
        function,
        tool_name=name,
        extra_args=options.extra_args,
        echo_values=options.echo_values,
        context_type=Context,
        descriptions=texts,
        noun="prompt",
        untyped=str,
    )
    if signature.return_annotation in (int, float, bool, bytes):
        kind = signature.return_annotation.__name__
        raise TypeError(f"prompt {name!r}: a prompt returns a text, a message or a list of them, not {kind}")
    arguments = Arguments(signature)
    entry = PromptEntry(
        name=name,
        title=spec.title,
        description=description,
        arguments=arguments.entries or None,
        icons=checked_icons(f"prompt {name!r}", spec.icons),
        meta=spec.meta,
    )
    check_entry(entry, "prompt")
    in_thread = spec.thread is not False
    callee = Callee(
        function, signature, home, method="prompts/get", name=name, timeout=spec.timeout, in_thread=in_thread
    )
    return Prompt(callee, arguments, entry)


class Prompts:
    """The prompts of one server, and the methods that serve them.

    Args:
        server: told of changes by the registry; nothing is served before `serve`.
    """

    def __init__(self, server: MCPServer) -> None:
        self._server = server
        self.registry: Registry[Prompt] = Registry("prompt", server.notify_prompts_changed)
        self._pages = server.pages("prompts/list", "prompts", self.registry)

    def serve(self) -> None:
        """Declare the capability and answer the methods."""
        server = self._server
        if "prompts/get" in server.methods:
            return
        server.declare("prompts", {"listChanged": True})
        lists = msgspec.json.Decoder(ListParams)
        server.serve_method("prompts/list", Method(lists, self._list, source=self.registry))
        server.serve_method("prompts/get", Method(msgspec.json.Decoder(GetPromptParams), self._get, "name"))

    def find(self, name: str) -> Prompt:
        """Return the prompt of that name.

        Raises:
            InvalidParams: there is none.
        """
        prompt = self.registry.visible.get(name)
        if prompt is None:
            raise InvalidParams(
                f"Unknown prompt: {name[:128]!r}{did_you_mean(name, [known.name for known in self.registry])}"
            )
        return prompt

    def _list(self, params: ListParams, exchange: Exchange) -> Segments:
        return self._pages.answer(params.cursor, exchange.id)

    def _get(self, params: GetPromptParams, exchange: Exchange) -> Coroutine[Any, Any, Segments]:
        return self.find(params.name).get(params, exchange)
