"""Tracebacks that end in the author's line, and those that stay whole."""

from __future__ import annotations

import asyncio
import functools
import os
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from leanmcp import Field, MCPServer, errors
from leanmcp.errors import explained, option_names
from leanmcp.frames import owner_of
from leanmcp.mistakes import code_of, noted, shorten
from leanmcp.run import entered
from leanmcp.server import registration


def _raised(act: Callable[[], Any]) -> BaseException:
    with pytest.raises(Exception) as caught:  # noqa: PT011  any
        act()
    return caught.value


def _files(error: BaseException) -> list[str]:
    return [frame.filename.rpartition("/")[2] for frame in traceback.extract_tb(error.__traceback__)]


def _register(function: Callable[..., Any], **options: Any) -> Callable[[], None]:
    return lambda: MCPServer("x").add_tool(function, **options)


def test_a_refusal_keeps_the_frames_of_the_author_only() -> None:
    """Ours: goal U11."""
    error = _raised(_register(lambda a: a, name="echo"))
    assert set(_files(error)) == {"test_mistakes.py"}
    assert error.__notes__ == ["LM101: run `leanmcp explain LM101`"]


def test_a_bug_of_ours_keeps_every_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: whoever reports it can say where it was."""

    def broken(*_: Any) -> Any:
        return dict[str, int]()["no such key"]

    monkeypatch.setattr(broken, "__code__", broken.__code__.replace(co_filename=registration.__file__))
    monkeypatch.setattr(registration, "checked_name", broken)
    error = _raised(_register(lambda: None, name="echo"))
    assert "app.py" in _files(error)
    assert _files(error)[-1] == "registration.py"
    assert not hasattr(error, "__notes__")


def test_what_code_of_the_author_raises_keeps_its_frames() -> None:
    """Ours: a property that fails while we look at an object, for one."""

    class Odd:
        def __call__(self, a: int) -> int:
            return a

        @property
        def __name__(self) -> str:
            raise ZeroDivisionError("mine")

    error = _raised(_register(Odd()))
    assert isinstance(error, ZeroDivisionError)
    assert set(_files(error)) == {"test_mistakes.py"}
    assert not hasattr(error, "__notes__")


def test_a_wrong_call_of_ours_is_the_authors_mistake() -> None:
    """Ours: Python's own text, without our frames."""
    error = _raised(lambda: MCPServer("x").add_tool())  # type: ignore[call-arg]
    assert "missing 1 required positional argument: 'fn'" in str(error)
    assert set(_files(error)) == {"test_mistakes.py"}


def test_an_exception_is_shortened_and_noted_once() -> None:
    """Ours: a decorator that registers passes through two functions that shorten."""
    mcp = MCPServer("x")
    error = _raised(lambda: mcp.tool(titel="x")(functools.partial(max, 1)))  # type: ignore[call-overload]
    assert len(error.__notes__) == 1
    shorten(error)
    assert len(error.__notes__) == 1


def test_a_cause_in_a_library_is_left_out_and_one_of_the_authors_is_kept() -> None:
    """Ours: goal U14; the message has said it already."""

    def theirs() -> None:
        raise LookupError("theirs")

    @explained
    def of_library() -> None:
        refuse(KeyError("library"))

    @explained
    def of_author() -> None:
        try:
            theirs()
        except LookupError as cause:
            refuse(cause)

    def refuse(cause: Exception) -> None:
        raise TypeError("tool 'x': the default None is no int; write a: int | None = None") from cause

    ours = registration.__file__
    for function in (refuse, of_library.__wrapped__, of_author.__wrapped__):  # type: ignore[attr-defined]
        function.__code__ = function.__code__.replace(co_filename=ours)
    error = _raised(of_library)
    assert error.__cause__ is None
    assert error.__suppress_context__
    assert isinstance(_raised(of_author).__cause__, LookupError)


def test_what_nobody_explains_gets_no_note() -> None:
    """Ours: nothing is made up."""
    assert code_of(ValueError("boom")) is None
    assert not hasattr(noted(ValueError("boom")), "__notes__")


def test_explained_functions_keep_their_names_and_options() -> None:
    """Ours: goal U27; editors show them as they are written."""
    assert MCPServer.add_tool.__name__ == "add_tool"
    assert option_names(MCPServer.add_tool)[:2] == ("self", "fn")
    assert option_names(Field)[:3] == ("default", "default_factory", "alias")
    assert option_names(_register) == ("function",)


@pytest.mark.parametrize(
    ("filename", "owner"),
    [
        (errors.__file__, "ours"),
        (os.__file__, "library"),
        (f"{os.path.dirname(os.__file__)}/site-packages/shop/server.py", "installed"),
        ("/usr/lib/python3/dist-packages/shop.py", "installed"),
        ("<frozen importlib._bootstrap>", "library"),
        ("uvloop/loop.pyx", "library"),
        (__file__, "author"),
        ("<stdin>", "author"),
    ],
)
def test_a_file_has_one_owner(filename: str, owner: str) -> None:
    """Ours: one function says it to tracebacks, logs and `leanmcp check`."""
    assert owner_of(filename) == owner


def test_a_context_manager_inside_of_a_lifespan_is_not_taken_for_it() -> None:
    """Ours: the text is the same, the line of the author is another one."""

    @asynccontextmanager
    async def broken() -> AsyncIterator[None]:
        for _ in ():
            yield

    @asynccontextmanager
    async def lifespan(_: MCPServer) -> AsyncIterator[None]:
        async with broken():
            yield

    async def start() -> None:
        async with entered(MCPServer("x", lifespan=lifespan)):
            raise AssertionError("it has begun")

    error = _raised(lambda: asyncio.run(start()))
    assert (type(error), str(error)) == (RuntimeError, "generator didn't yield")


def test_a_class_may_be_the_lifespan() -> None:
    """Ours: its objects are async context managers, each made with the server."""

    class Life:
        def __init__(self, server: MCPServer) -> None:
            self.server = server

        async def __aenter__(self) -> str:
            return self.server.name

        async def __aexit__(self, *_: object) -> None: ...

    mcp = MCPServer("x", lifespan=Life)

    async def start() -> object:
        async with entered(mcp):
            return mcp.lifespan_value

    assert asyncio.run(start()) == "x"
