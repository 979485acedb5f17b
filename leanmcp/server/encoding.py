"""Python values as JSON bytes, and where exactly a value has no JSON form.

In: any object. Out: valid JSON, never a NaN token and never a silent null in its place (policy P4).
"""

from __future__ import annotations

import datetime
import decimal
import io
import json
import math
import os
import sys
from collections import deque
from collections.abc import Awaitable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from types import AsyncGeneratorType, CoroutineType, FunctionType, GeneratorType, MethodType
from typing import Any

import msgspec

from ..errors import ToolError
from ..protocol.meta import SERVER_INFO
from ..types import AudioContent, BlobResourceContents, EmbeddedResource, ImageContent
from .content import Audio, File, Image, RawJSON

_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_MAX_DEPTH = 1000
_ENDLESS = object()
_scan = msgspec.json.Decoder(msgspec.Raw).decode


class ResultError(ToolError):
    """A tool returned what it must not: a fault of its author, told to the model and to the log."""

    def of(self, noun: str, name: str) -> str:
        """Return the text with whose result it is."""
        text = str(self)
        if text.startswith("Invalid result of"):
            return text  # which names it already
        if text.startswith(("A ", "The ")):
            text = text[0].lower() + text[1:]
        return f"{noun.capitalize()} {name!r}: {text}"


def encode_json(value: object, *, may_hold_nan: bool = True, is_read_again: bool = False) -> bytes:
    """Return `value` as JSON.

    Args:
        value: any object.
        may_hold_nan: False where its type rules out that a float is in it.
        is_read_again: whether the caller decodes what it gets, and so finds out by itself where it is no JSON.

    Raises:
        ResultError: it has no JSON form; the text names the path.
    """
    if type(value) is RawJSON:
        return value.data
    try:
        data = msgspec.json.encode(value, enc_hook=encode_other)
        # A Raw anywhere in it is spliced as it is: it may be no JSON, or end the message on stdio.
        if b"\n" in data or b"\r" in data:
            data = RawJSON(data).data
        elif not is_read_again:
            _scan(data)
            _ = data.isascii() or data.decode()
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.DecodeError) as fault:
        raise unencodable(value, fault) from None
    # NaN and Infinity are written as null, in silence: only where a null came out is there something to look for.
    if may_hold_nan and b"null" in data and not _is_finite(value):
        raise unencodable(value)
    return data


def encode_block(block: object) -> bytes:
    """Return a content block as JSON.

    Raises:
        ResultError: it has no JSON form, or what has to be base64 is none.

    Spec: schema, ImageContent, AudioContent and EmbeddedResource.
    """
    if isinstance(block, ImageContent | AudioContent):
        check_base64(block.data, f"data of {type(block).__name__}")
    elif isinstance(block, EmbeddedResource) and isinstance(block.resource, BlobResourceContents):
        check_base64(block.resource.blob, f"blob of {block.resource.uri!r}")
    return encode_json(block)


def own_members(meta: object) -> bytes:
    """Return what a function put into the `_meta` of its result, as members with a comma behind each.

    `serverInfo` is left out: it names this server, also where a result is handed on that another one made.

    Raises:
        ResultError: it is no object, or has no JSON form.
    """
    if meta is None:
        return b""
    if not isinstance(meta, dict):
        raise ResultError(f"meta= of a result is a dict, not {type(meta).__name__}")
    data = encode_json({name: value for name, value in meta.items() if name != SERVER_INFO})
    return data[1:-1] + b"," if len(data) > 2 else b""


def server_member(server_info: bytes) -> bytes:
    """Return the member of a result's `_meta` that names this server.

    Args:
        server_info: the JSON of `serverInfo`.
    """
    return b'"%s":%s' % (SERVER_INFO.encode(), server_info)


def check_base64(text: object, what: str) -> int:
    """Return how many bytes base64 stands for.

    `binascii` decodes all of it for that, several times slower, and its strict mode lets `AAAA=` pass.

    Raises:
        ResultError: it is none; `what` is named.
    """
    if isinstance(text, str) and text.isascii() and len(text) % 4 == 0:
        padding = text.encode().translate(None, _BASE64)
        if padding in (b"", b"=", b"==") and text.endswith(padding.decode()):
            return len(text) // 4 * 3 - len(padding)
    raise ResultError(f"{what} is no base64; give bytes instead, to Image, Audio or File of leanmcp")


def _is_finite(value: object) -> bool:
    """Return whether no NaN and no Infinity is in a value that has been encoded; a pass in C, not in Python."""
    try:
        json.dumps(msgspec.to_builtins(value, enc_hook=_plain, str_keys=True), allow_nan=False)
    except ValueError:
        return False
    return True


def _plain(value: object) -> object:
    """Return what `encode_other` does; of JSON that is spliced as it is nothing, for there is no NaN in it."""
    return None if isinstance(value, RawJSON | msgspec.Raw) else encode_other(value)


def encode_other(value: object) -> object:
    """Return what stands in JSON for an object that msgspec does not know.

    Raises:
        TypeError: nothing does.
    """
    if isinstance(value, SUBCLASSED) and not isinstance(value, bool):  # a bool comes here as a key only
        return _as_base(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, RawJSON):
        return msgspec.Raw(value.data)
    instead = _instead(value)
    if instead is not None:
        raise TypeError(f"{type(value).__name__} has no JSON form; {instead}")
    if "pydantic" in sys.modules:
        from .pydantic_kinds import plain

        return plain(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


_LAZY = (Iterator, range, KeysView, ValuesView, ItemsView, deque)
"""What gives values one after the other, and is returned by those who mean a list."""


def _instead(value: object) -> str | None:
    """Return what to do with a value that is returned by mistake, None for every other one."""
    if isinstance(value, BaseException) or (isinstance(value, type) and issubclass(value, BaseException)):
        return "raise it instead of returning it"
    if isinstance(value, CoroutineType):
        from .fault_hints import drop  # of mistakes only

        drop(value)
        return f"did you forget `await`, as in `await {value.__name__}(...)`?"
    if isinstance(value, GeneratorType | AsyncGeneratorType):
        return "return a list of what it yields"
    if isinstance(value, Awaitable):
        return "did you forget `await`?"
    if isinstance(value, io.IOBase):
        return "return what it holds, as `read()` gives it"
    if isinstance(value, _LAZY):
        return "return a list of it, as `list(...)` makes one"
    if isinstance(value, Mapping):
        return "return a dict of it, as `dict(...)` makes one"
    if isinstance(value, type):
        return f"it is a class; return an object of it, as `{value.__name__}(...)` makes one"
    if isinstance(value, FunctionType | MethodType):
        return f"did you forget to call it, as in `{value.__name__}(...)`?"
    if isinstance(value, Image | Audio | File):
        kind = type(value).__name__
        return f"it is content: return it alone, or in a list annotated `-> list[str | {kind}]` or not at all"
    for method in ("tolist", "to_dict"):  # of arrays and of tables
        if hasattr(type(value), method):
            return f"return what its `{method}()` gives"
    if type(value).__module__.startswith("mcp"):
        from ..elsewhere import official  # of few results

        return official(type(value)) or None
    if type(value).__name__ in ("Elicit", "ElicitURL"):
        return "ask with `await ctx.elicit(...)`, or return it from a function behind Resolve"
    return None


DATES: tuple[Any, ...] = (datetime.datetime, datetime.date, datetime.time)
SUBCLASSED = (str, int, float, bytes, decimal.Decimal, datetime.timedelta, *DATES)


def _as_base(value: Any) -> object:
    """Return the plain value inside of an instance of a subclass, whatever its methods say."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes):
        return bytes(memoryview(value))
    if isinstance(value, int):
        return int.__index__(value)
    for kind in DATES:
        if isinstance(value, kind):
            if value != value:  # NaT of pandas
                raise TypeError(f"{type(value).__name__} is no date; return None instead")
            return kind.fromisoformat(kind.isoformat(value))
    if isinstance(value, datetime.timedelta):
        return datetime.timedelta(value.days, value.seconds, value.microseconds)
    return decimal.Decimal(value) if isinstance(value, decimal.Decimal) else float.__float__(value)


def unencodable(value: object, fault: Exception | None = None) -> ResultError:
    """Return the error that tells where `value` has no JSON form."""
    found = _first_fault(value)
    if found is None:
        return ResultError(f"The result has no JSON form: {fault or type(value).__name__}")
    path, reason = found
    return ResultError(f"The result has no JSON form at {path or 'its root'}: {reason}")


def _first_fault(value: object) -> tuple[str, str] | None:
    """Return path and reason of the first value that JSON cannot carry; None where all can be."""
    for path, item, is_key in _leaves(value):
        reason = _key_fault(item) if is_key else _fault(item)
        if reason is not None:
            return path, reason
    return None


def _fault(item: object) -> str | None:
    if item is _ENDLESS:
        return "a container holds itself or is nested too deeply"
    if isinstance(item, float):
        return None if math.isfinite(item) else f"{float.__repr__(item)} is no JSON number; return None instead"
    if isinstance(item, str):
        return None if _is_unicode(item) else "the text holds a lone surrogate"
    if item is None or isinstance(item, bool):
        return None
    if isinstance(item, msgspec.Raw):
        return _raw_fault(item)
    try:
        msgspec.json.encode(item, enc_hook=encode_other)
    except ValueError as fault:
        return "the integer has over 4,300 digits" if isinstance(item, int) else _sentence(fault)
    except Exception as fault:  # an object's own conversion may raise anything
        return _sentence(fault)
    return None


def _raw_fault(raw: msgspec.Raw) -> str | None:
    try:
        RawJSON(bytes(raw))
    except ValueError as fault:
        return f"this msgspec.Raw is no JSON: {_sentence(fault).removeprefix('RawJSON: not JSON: ')}"
    return None


def _key_fault(key: object) -> str | None:
    if isinstance(key, str):
        return _fault(key)
    try:
        msgspec.json.encode({key: 0}, enc_hook=encode_other)
    except Exception:  # a key that is a tuple may hold anything
        return f"{type(key).__name__} is no key of a JSON object; write str(key)"
    return None


def _sentence(fault: Exception) -> str:
    try:
        return str(fault) or type(fault).__name__
    except Exception:  # of an object that cannot even say what is wrong with it
        return type(fault).__name__


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _leaves(root: object) -> Iterator[tuple[str, object, bool]]:
    """Yield path, value and whether it is a key, without recursion; `_ENDLESS` where the depth has no end."""
    stack: list[tuple[str, object, int]] = [("", root, 0)]
    while stack:
        path, value, depth = stack.pop()
        children = _children(path, value)
        if children is None:
            yield path, value, False
        elif depth > _MAX_DEPTH:
            yield path[:60], _ENDLESS, False
            return
        else:
            if isinstance(value, dict):
                yield from ((path, key, True) for key in dict.keys(value))
            stack.extend((where, item, depth + 1) for where, item in reversed(children))


def _children(path: str, value: object) -> list[tuple[str, object]] | None:
    """Return paths and values of the members of a container, None for a leaf."""
    if isinstance(value, dict):
        return [(_join(path, key), item) for key, item in dict.items(value)]
    if isinstance(value, list | tuple | set | frozenset):
        return [(f"{path}[{index}]", item) for index, item in enumerate(value)]
    if isinstance(value, msgspec.Struct):
        names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
        return [(_join(path, shown), getattr(value, name)) for name, shown in names]
    fields: Any = getattr(type(value), "__dataclass_fields__", None)
    if fields is None:
        fields = [attribute.name for attribute in getattr(type(value), "__attrs_attrs__", ())] or None
    if fields is not None:
        return [(_join(path, name), getattr(value, name, None)) for name in fields]
    try:
        converted = None if isinstance(value, _LEAVES) else encode_other(value)
    except TypeError:
        return None
    return _children(path, converted) if isinstance(converted, dict | list) else None


_LEAVES = (str, int, float, type(None), bytes, os.PathLike, RawJSON)


def _join(path: str, key: object) -> str:
    try:
        shown = str(key)
    except Exception:  # of an object that is no key anyway
        shown = type(key).__name__
    if not _is_unicode(shown):
        shown = "?"
    return f"{path}.{shown}" if path else shown
