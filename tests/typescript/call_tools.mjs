// Lists and calls the tools of any server with the TypeScript SDK's client; prints what came back as one JSON object.
//
//   node call_tools.mjs NODE_MODULES MODE http URL                      < PLAN
//   node call_tools.mjs NODE_MODULES MODE stdio COMMAND [ARGUMENT ...]  < PLAN
//
// NODE_MODULES: folder that holds @modelcontextprotocol/client. MODE: "auto", or a protocol version to pin.
// PLAN: {"calls": [{"name", "arguments"}], "together": [...]}; calls go one after the other, and an argument "$name" is
// what the last structured content with that member said. Those of `together` go at once.
import { createRequire } from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const [packages, mode, transportName, ...target] = process.argv.slice(2);
const load = createRequire(join(packages, "resolve-from-here.js"));
const { Client, StreamableHTTPClientTransport } = load("@modelcontextprotocol/client");
const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");
const plan = JSON.parse(await text(process.stdin));

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
  { name: "tests", version: "1.0.0" },
  { versionNegotiation: { mode: mode === "auto" ? "auto" : { pin: mode } } },
);
await client.connect(openTransport());
const tools = (await client.listTools()).tools; // from here on the client checks structured content

const known = {};
const filled = (args) =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      typeof value === "string" && value.startsWith("$") ? known[value.slice(1)] : value,
    ]),
  );
const results = [];
for (const call of plan.calls) {
  const answer = await outcome(client.callTool({ name: call.name, arguments: filled(call.arguments) }));
  Object.assign(known, answer.result?.structuredContent);
  results.push(answer);
}
const together = await Promise.all((plan.together ?? []).map((call) => outcome(client.callTool(call))));

const report = {
  version: client.getNegotiatedProtocolVersion(),
  server: client.getServerVersion(),
  tools,
  results,
  together,
};
await client.close();
console.log(JSON.stringify(report));
