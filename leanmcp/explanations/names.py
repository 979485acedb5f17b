"""LM20x to LM22x: names, options, metadata and hints."""

from __future__ import annotations

from .record import Page

PAGES: tuple[Page, ...] = (
    Page(
        "LM201",
        "a name has characters that hosts refuse",
        r"name .*: use 1 to 128 of A-Z",
        "Names travel in JSON, in an HTTP field and into the prompts of models. strict_names=False on the server "
        "lets others through, with a warning.",
        """\
@mcp.tool("add numbers")
def add(a: int, b: int) -> int: return a + b
""",
        """\
@mcp.tool("add_numbers", title="Add numbers")
def add(a: int, b: int) -> int: return a + b
""",
    ),
    Page(
        "LM202",
        "a name or URI is taken",
        r"is registered already; give",
        "Clients call by name, so that a second one would hide the first.",
        """\
@mcp.tool
def add(a: int, b: int) -> int: return a + b
@mcp.tool
def add(a: float, b: float) -> float: return a + b
""",
        """\
@mcp.tool
def add(a: int, b: int) -> int: return a + b
@mcp.tool("add_floats")
def add(a: float, b: float) -> float: return a + b
""",
    ),
    Page(
        "LM203",
        "an option has a name that there is not",
        r"unknown option '(?!-)",
        "Options are given by name; the message says which one is closest.",
        """\
@mcp.tool(titel="Add")
def add(a: int, b: int) -> int: return a + b
""",
        """\
@mcp.tool(title="Add")
def add(a: int, b: int) -> int: return a + b
""",
    ),
    Page(
        "LM204",
        "a name is no text",
        r"(tool|prompt) name must be a string|resource .*: name=.*; give a text",
        "What stands first in the parentheses is the name.",
        """\
@mcp.tool(60)
def add(a: int, b: int) -> int: return a + b
""",
        """\
@mcp.tool(timeout=60)
def add(a: int, b: int) -> int: return a + b
""",
    ),
    Page(
        "LM205",
        "a limit is no positive number",
        r"give a positive (whole )?number",
        "Times are seconds, sizes are bytes. None, where it is allowed, is no limit; 0 would let nothing through.",
        """\
@mcp.tool(timeout=0)
def add(a: int, b: int) -> int: return a + b
""",
        """\
@mcp.tool(timeout=60)
def add(a: int, b: int) -> int: return a + b
""",
    ),
    Page(
        "LM206",
        "an option that is on or off is something else",
        r"=.*[:;] give True or False",
        'A text such as "no" would count as on.',
        """\
@mcp.tool(thread="no")
def add(a: int, b: int) -> int: return a + b
""",
        """\
@mcp.tool(thread=False)
def add(a: int, b: int) -> int: return a + b
""",
    ),
    Page(
        "LM207",
        "an option knows two words, and this is neither",
        r"=.*: give '\w+' or '\w+'",
        "The message names both.",
        """\
MCPServer("demo", extra_args="allow")
""",
        """\
MCPServer("demo", extra_args="ignore")
""",
    ),
    Page(
        "LM208",
        "annotations= is no object of hints",
        r"annotations=.*; give leanmcp\.types\.",
        "A tool has ToolAnnotations, a resource Annotations; a dict could be misspelt without anybody noticing.",
        """\
@mcp.tool(annotations={"readOnlyHint": True})
def add(a: int, b: int) -> int: return a + b
""",
        """\
@mcp.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int: return a + b
""",
    ),
    Page(
        "LM209",
        "an entry of a list cannot be published",
        r"its entry in \w+/list cannot be published",
        "A member has a type that the specification does not allow there, or no JSON form. Clients would refuse "
        "the whole list.",
        """\
@mcp.tool(title=["Add"])
def add(a: int, b: int) -> int: return a + b
""",
        """\
@mcp.tool(title="Add")
def add(a: int, b: int) -> int: return a + b
""",
    ),
    Page(
        "LM210",
        "an icon is none that clients show",
        r"icons=|icon '.*' (must be an|has (sizes|theme|mime_type)=)",
        "icons= takes a list of Icon, at https: or data: URIs; clients refuse to fetch others.",
        """\
MCPServer("demo", icons=[Icon(src="logo.png")])
""",
        """\
MCPServer("demo", icons=[Icon(src="data:image/png;base64,iVBORw0KGgo=")])
""",
    ),
    Page(
        "LM211",
        "what a server tells of itself is no text, or no URL",
        r"website_url=.*; give a URL|MCPServer: \w+=.*; give a string"
        r"|instructions=.*: give a string|name, title, description, version and",
        "Name, title, description, version, website and instructions are sent as texts.",
        """\
MCPServer("demo", version=1.0)
""",
        """\
MCPServer("demo", version="1.0")
""",
    ),
    Page(
        "LM212",
        "limits= is no Limits",
        r"limits=.*: give Limits\(",
        "Limits has every limit with its default, and refuses names that there are not.",
        """\
MCPServer("demo", limits={"max_body_size": 1000})
""",
        """\
MCPServer("demo", limits=Limits(max_body_size=1000))
""",
    ),
    Page(
        "LM213",
        "a cache hint is none, or stands with a method that has none",
        r"give (a )?CacheHint\(|cacheable methods are|give 0 or more milliseconds",
        "CacheHint(ttl_ms=60_000) says for how many milliseconds clients may keep a list or a resource.",
        """\
MCPServer("demo", cache_hints={"tools/list": 60})
""",
        """\
MCPServer("demo", cache_hints={"tools/list": CacheHint(ttl_ms=60_000)})
""",
    ),
    Page(
        "LM214",
        "middleware that cannot stand around a method",
        r"middleware.*(call_next|: give a list)",
        "A list of coroutine functions; each gets the request and what goes on with it.",
        """\
def log(request): return request
MCPServer("demo", middleware=[log])
""",
        """\
async def log(request, call_next): return await call_next(request)
MCPServer("demo", middleware=[log])
""",
    ),
    Page(
        "LM215",
        "page_size= is no number of entries",
        r"page_size=.*: give the number",
        "0 puts all entries of a list on one page.",
        """\
MCPServer("demo", page_size=-1)
""",
        """\
MCPServer("demo", page_size=50)
""",
    ),
    Page(
        "LM216",
        "nothing is marked as a tool",
        r"has no tools; mark its methods|add_tools takes an object, class or module",
        "add_tools registers what @tool marks, and nothing else: not every method is meant for a model.",
        """\
class Math:
    def add(self, a: int, b: int) -> int: return a + b
mcp.add_tools(Math())
""",
        """\
class Math:
    @tool
    def add(self, a: int, b: int) -> int: return a + b
mcp.add_tools(Math())
""",
    ),
    Page(
        "LM217",
        "add_tools gets the class of a method that needs an object",
        r"is a method of instances; give one",
        "The method would have no self.",
        """\
class Math:
    @tool
    def add(self, a: int, b: int) -> int: return a + b
mcp.add_tools(Math)
""",
        """\
class Math:
    @tool
    def add(self, a: int, b: int) -> int: return a + b
mcp.add_tools(Math())
""",
    ),
    Page(
        "LM218",
        "@tool marks what is no function",
        r"@tool marks functions and methods",
        "It stands above a function or a method, and below @property and the like.",
        """\
@tool
class Math: pass
""",
        """\
class Math:
    @tool
    def add(self, a: int, b: int) -> int: return a + b
""",
    ),
    Page(
        "LM219",
        "there is nothing of this name to remove, hide or show",
        r"there is no (tool|prompt|resource) '|is no name of a \w+; give it as text",
        "Tools and prompts are known by name, resources by URI; the message says which one is closest.",
        """\
mcp.remove_tool("add")
""",
        """\
mcp.add_tool(lambda a: a, "add", input_schema={"type": "object", "properties": {"a": {}}, "required": ["a"]})
mcp.remove_tool("add")
""",
    ),
    Page(
        "LM220",
        "a completion belongs to no argument",
        r"completion\(.*(register it before|did you mean|give (both|one argument))|completion '.*give parameters for",
        "It names a prompt or a URI template that is registered already, and one of its arguments; the function "
        "takes (value) or (value, arguments).",
        """\
@mcp.completion("greet", "name")
def names(value: str) -> list[str]: return ["Ada"]
""",
        """\
@mcp.prompt
def greet(name: str) -> str: return f"Greet {name}"
@mcp.completion("greet", "name")
def names(value: str) -> list[str]: return ["Ada"]
""",
    ),
    Page(
        "LM221",
        "handles without a kind or a lifetime",
        r"kind=.*: give one word|ttl=.*: give a lifetime|Handles takes its options by name",
        "The kind becomes part of each handle; whoever knows a handle may use it until its lifetime ends.",
        """\
Handles(kind="shopping basket", ttl=3600)
""",
        """\
Handles(kind="basket", ttl=3600)
""",
    ),
    Page(
        "LM222",
        "the key that protects the state of requests cannot do that",
        r"of the requestState|LEANMCP_STATE_KEY|keys=: give a list of secrets|request_state_security= is"
        r"|RequestStateSecurity takes",
        "Secrets of 32 random bytes or more, the one to seal with first; every process of the server has the same.",
        """\
RequestStateSecurity(keys=["secret"])
""",
        """\
RequestStateSecurity(keys=[os.urandom(32)])
""",
    ),
    Page(
        "LM223",
        "an option of Field is of another type",
        r"Field: \w+=.*; give|Field: give default or default_factory",
        "Texts are strings, lengths whole numbers, examples a list; a default is given or made, not both.",
        """\
Field(min_length=-1)
""",
        """\
Field(min_length=1)
""",
    ),
    Page(
        "LM224",
        "sanitize= is no function",
        r"sanitize=.*: give a function",
        "It takes what a tool returned, or the text of an error, and returns what may go out.",
        """\
@mcp.tool(sanitize=True)
def add(a: int, b: int) -> int: return a + b
""",
        """\
@mcp.tool(sanitize=lambda value: value)
def add(a: int, b: int) -> int: return a + b
""",
    ),
    Page(
        "LM225",
        "extensions= holds what is no extension",
        r"extensions=.*: give objects of subclasses",
        "An extension is an object of a class that is derived from leanmcp.server.Extension.",
        """\
class Search(Extension):
    identifier = "com.example/search"
MCPServer("demo", extensions=[Search])
""",
        """\
class Search(Extension):
    identifier = "com.example/search"
MCPServer("demo", extensions=[Search()])
""",
    ),
    Page(
        "LM226",
        "the identifier of an extension has no prefix",
        r"\.identifier is .*; give a prefix in reverse DNS order",
        "A domain of yours keeps it apart from the extensions of others.",
        """\
class Search(Extension):
    identifier = "search"
""",
        """\
class Search(Extension):
    identifier = "com.example/search"
""",
    ),
    Page(
        "LM227",
        "a decorator of the class is used, not of a server",
        r"MCPServer\.(tool|prompt) is used on the class",
        "Tools and prompts belong to one server, which is made first.",
        """\
@MCPServer.tool
def add(a: int, b: int) -> int: return a + b
""",
        """\
@mcp.tool
def add(a: int, b: int) -> int: return a + b
""",
    ),
    Page(
        "LM228",
        "a function is marked with @tool, and not registered",
        r"marked with @tool, and not registered",
        "@tool of leanmcp marks methods and functions for add_tools, before there is a server; @mcp.tool registers.",
        """\
@tool
def search(text: str) -> str:
    "Search the shelf."
    return text
mcp.run()
""",
        """\
@mcp.tool
def search(text: str) -> str:
    "Search the shelf."
    return text
mcp.run()
""",
    ),
    Page(
        "LM229",
        "subscriptions= is no bus",
        r"subscriptions=.*: give a SubscriptionBus",
        "A bus carries changes to other servers and processes; a server alone needs none. Nor does listen=False.",
        """\
MCPServer("demo", subscriptions=True)
""",
        """\
MCPServer("demo")
""",
    ),
)
