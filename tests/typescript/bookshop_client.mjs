// Calls the bookshop with the TypeScript SDK's client and prints what came back as one JSON object.
//
//   node bookshop_client.mjs NODE_MODULES MODE http URL
//   node bookshop_client.mjs NODE_MODULES MODE stdio COMMAND [ARGUMENT ...]
//
// NODE_MODULES: folder that holds @modelcontextprotocol/client. MODE: "auto", or a protocol version to pin.
import { createRequire } from "node:module";
import { join } from "node:path";

const [packages, mode, transportName, ...target] = process.argv.slice(2);
const load = createRequire(join(packages, "resolve-from-here.js"));
const { Client, StreamableHTTPClientTransport } = load("@modelcontextprotocol/client");
const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");

function openTransport() {
  if (transportName === "http") return new StreamableHTTPClientTransport(new URL(target[0]));
  const [command, ...args] = target;
  return new StdioClientTransport({ command, args, env: process.env });
}

// What a call came to: its result, or code and message of the protocol error.
async function outcome(promise) {
  try {
    return { result: await promise };
  } catch (error) {
    return { code: error.code ?? null, message: String(error.message) };
  }
}

const client = new Client(
  { name: "bookshop-test", version: "1.0.0" },
  { versionNegotiation: { mode: mode === "auto" ? "auto" : { pin: mode } } },
);
await client.connect(openTransport());
const call = (name, args) => outcome(client.callTool({ name, arguments: args }));
const titles = Array.from({ length: 50 }, (_, number) => `Volume ${number}`);
const large = "ж".repeat(500_000);

const report = {
  version: client.getNegotiatedProtocolVersion(),
  server: client.getServerVersion(),
  tools: (await client.listTools()).tools,
  search: await call("search_books", { query: "dune", limit: 5 }),
  stock: await call("check_stock", { title: "Dune" }),
  tooMany: await call("search_books", { query: "dune", limit: 999 }),
  tooEarly: await call("add_book", { book: { title: "Almagest", author: "Ptolemy", year: 150 } }),
  unknown: await call("search_book", { query: "dune" }),
  parallel: (await Promise.all(titles.map((title) => call("check_stock", { title })))).map(
    (answer) => answer.result?.structuredContent?.title,
  ),
  large: (await call("search_books", { query: large })).result?.content[0].text.includes(large),
};
await client.close();
console.log(JSON.stringify(report));
