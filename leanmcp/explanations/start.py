"""LM4xx: how a server starts: run(), transports, its lifespan."""

from __future__ import annotations

from .record import Page

PAGES: tuple[Page, ...] = (
    Page(
        "LM401",
        "a transport that there is not",
        r"unknown transport ",
        'A host starts the program and speaks on standard input and output: "stdio". Everything else is "http".',
        """\
mcp.run("htpp")
""",
        """\
mcp.run("http", port=0)
""",
    ),
    Page(
        "LM402",
        "an option of HTTP without HTTP",
        r": an option of HTTP; serve it with run",
        "Without a transport, run() speaks on standard input and output, where there is no port.",
        """\
mcp.run(port=0)
""",
        """\
mcp.run("http", port=0)
""",
    ),
    Page(
        "LM403",
        "the port is in use",
        r"the port is in use; choose another",
        "Another program listens there, maybe this server, started before.",
        """\
import socket
other = socket.create_server(("127.0.0.1", 0))
mcp.run("http", port=other.getsockname()[1])
""",
        """\
mcp.run("http", port=0)
""",
    ),
    Page(
        "LM404",
        "run() is called where an event loop runs",
        r"mcp\.run\(\) starts an event loop, but",
        "run() is for the end of a program. Inside of `async def`, and in a notebook, the loop is there already.",
        """\
import asyncio
async def main():
    mcp.run()
asyncio.run(main())
""",
        """\
import asyncio
async def main():
    await mcp.run_async()
asyncio.run(main())
""",
    ),
    Page(
        "LM405",
        "lifespan= is no async context manager",
        r"lifespan=.*(is no context manager|does not yield|no async context manager|return an async context manager)",
        "It opens what the server needs, yields it once, and closes it when the server ends.",
        """\
async def lifespan(server):
    yield {}
MCPServer("demo", lifespan=lifespan)
""",
        """\
from contextlib import asynccontextmanager
@asynccontextmanager
async def lifespan(server):
    yield {}
MCPServer("demo", lifespan=lifespan)
""",
    ),
    Page(
        "LM406",
        "lifespan= is given a call of the function",
        r"lifespan= is given what the function returns",
        "The server calls it itself, once in each process.",
        """\
from contextlib import asynccontextmanager
@asynccontextmanager
async def lifespan(server):
    yield {}
MCPServer("demo", lifespan=lifespan(mcp))
""",
        """\
from contextlib import asynccontextmanager
@asynccontextmanager
async def lifespan(server):
    yield {}
MCPServer("demo", lifespan=lifespan)
""",
    ),
    Page(
        "LM407",
        "lifespan= is no function",
        r"lifespan=.* is no function; write",
        "A value that needs no closing can be a variable of the module.",
        """\
MCPServer("demo", lifespan={"database": "db"})
""",
        """\
from contextlib import asynccontextmanager
@asynccontextmanager
async def lifespan(server):
    yield {"database": "db"}
MCPServer("demo", lifespan=lifespan)
""",
    ),
    Page(
        "LM408",
        "lifespan= does not take the server",
        r"lifespan=.*: it is called with the server; write",
        "It is called with the server, so that one function can do for several.",
        """\
from contextlib import asynccontextmanager
@asynccontextmanager
async def lifespan():
    yield {}
MCPServer("demo", lifespan=lifespan)
""",
        """\
from contextlib import asynccontextmanager
@asynccontextmanager
async def lifespan(server):
    yield {}
MCPServer("demo", lifespan=lifespan)
""",
    ),
    Page(
        "LM409",
        "lifespan= yields never, or twice",
        r"lifespan= (has ended without yielding|yields more than once)",
        "The server runs while the function stands at its one yield.",
        """\
from contextlib import asynccontextmanager
@asynccontextmanager
async def lifespan(server):
    if server is None:
        yield {}
MCPServer("demo", lifespan=lifespan).run()
""",
        """\
from contextlib import asynccontextmanager
@asynccontextmanager
async def lifespan(server):
    yield {}
MCPServer("demo", lifespan=lifespan).run()
""",
    ),
    Page(
        "LM410",
        "port= is no port",
        r"port=.*: give a number from 0 to 65535",
        "A number, not a text: int(os.environ['PORT']).",
        """\
mcp.run("http", port="8000")
""",
        """\
mcp.run("http", port=0)
""",
    ),
    Page(
        "LM411",
        "the address cannot be bound",
        r"cannot listen on (?!.*the port is in use)",
        "The host is not an address of this machine, the port needs rights, or the folder of the socket is not there.",
        """\
mcp.run("http", uds="/no/such/folder/mcp.sock")
""",
        """\
mcp.run("http", port=0)
""",
    ),
    Page(
        "LM412",
        "TLS has no certificate",
        r"cannot use the certificate and key|ssl=.*: give the paths of certificate chain and key",
        "ssl= takes the paths of the certificate chain and of its key, or an ssl.SSLContext.",
        """\
mcp.run("http", port=0, ssl="cert.pem")
""",
        """\
import ssl
mcp.run("http", port=0, ssl=ssl.create_default_context(ssl.Purpose.CLIENT_AUTH))
""",
    ),
    Page(
        "LM413",
        "path= is no path",
        r"an endpoint path starts with '/'|is no part of a path",
        "Clients send the whole path, which begins with a slash; what stands behind a question mark is no part of it.",
        """\
mcp.run("http", port=0, path="mcp")
""",
        """\
mcp.run("http", port=0, path="/mcp")
""",
    ),
    Page(
        "LM414",
        "an option that takes a list is given something else",
        r"(allowed_hosts|allowed_origins|cors)=.*: give a list",
        "A text would be read letter by letter. The list holds texts.",
        """\
mcp.run("http", port=0, allowed_hosts="example.com")
""",
        """\
mcp.run("http", port=0, allowed_hosts=["example.com"])
""",
    ),
    Page(
        "LM415",
        "an option of HTTP has a value of another kind",
        r"(host|path)=.*: give a string|(fd|uds_mode)=.*: give a whole number|uds=.*: give the path of a Unix socket",
        "host=, path= and uds= are texts, fd= is the number of a descriptor, uds_mode= permissions.",
        """\
mcp.run("http", port=0, host=None)
""",
        """\
mcp.run("http", port=0, host="127.0.0.1")
""",
    ),
    Page(
        "LM416",
        "drain= is no time",
        r"drain=.*: give a number of seconds",
        "Seconds that running calls have when the server is told to end.",
        """\
mcp.run(drain=None)
""",
        """\
mcp.run(drain=5)
""",
    ),
    Page(
        "LM417",
        "the file calls run() while it is loaded",
        r"it calls run\(\) while it is loaded",
        "`leanmcp run`, `call` and the others import the file, and then serve it or talk to it. A run() at the top "
        "level would serve during the import.",
        """\
mcp.run()
""",
        """\
if __name__ == "__main__":
    mcp.run()
""",
    ),
    Page(
        "LM418",
        "lifespan= takes long",
        r"lifespan \(.*\) (has not (yielded|ended) for|did not end within)",
        "A server answers nobody before its lifespan has yielded, and its process ends when the lifespan has. "
        "There is no limit for either; the line shows where it stands.",
        """\
import asyncio
from contextlib import asynccontextmanager
@asynccontextmanager
async def lifespan(server):
    await asyncio.sleep(6)
    yield {}
MCPServer("demo", lifespan=lifespan).run()
""",
        """\
import asyncio
from contextlib import asynccontextmanager
@asynccontextmanager
async def lifespan(server):
    model = asyncio.create_task(asyncio.sleep(6, "model"))
    yield {"model": model}
    model.cancel()
MCPServer("demo", lifespan=lifespan).run()
""",
    ),
    Page(
        "LM419",
        "a host or an origin that no request can have",
        r": (a host is a name alone|a host is a name or an address|an origin is a scheme and a name), ",
        "A request names its host without a scheme, and a web page its origin with one and without a path.",
        """\
mcp.run("http", port=0, allowed_hosts=["https://mcp.example.com"])
""",
        """\
mcp.run("http", port=0, allowed_hosts=["mcp.example.com"], allowed_origins=["https://app.example.com"])
""",
    ),
    Page(
        "LM420",
        "an option has no name",
        r": an option has no name; write ",
        "Each option of run(), behind the transport, and each limit is given by its name.",
        """\
mcp.run("http", 8000)
""",
        """\
mcp.run("http", port=0)
""",
    ),
    Page(
        "LM421",
        "a tool is registered when the server has ended",
        r"is registered after mcp\.run\(\) has ended",
        "run() serves until the server ends; what stands below it in the file is run after that.",
        """\
mcp.run()
@mcp.tool
def add(a: int, b: int) -> int:
    "Add."
    return a + b
""",
        """\
@mcp.tool
def add(a: int, b: int) -> int:
    "Add."
    return a + b
mcp.run()
""",
    ),
    Page(
        "LM422",
        "HTTP is served at two places",
        r"(uds|fd)=\S+ and .*: give one of them",
        "A Unix socket, or one that a supervisor has opened, stands in place of host and port.",
        """\
mcp.run("http", uds="mcp.sock", port=1)
""",
        """\
mcp.run("http", port=0)
""",
    ),
)
