// Orders something of the order example with the TypeScript SDK's client; prints what came back as one JSON object.
//
//   node rounds.mjs NODE_MODULES http URL                      < ANSWERS
//   node rounds.mjs NODE_MODULES stdio COMMAND [ARGUMENT ...]  < ANSWERS
//
// NODE_MODULES: folder that holds @modelcontextprotocol/client. ANSWERS: a list of objects, one for each call, which
// give the results of the forms by the first word of their messages.
import { createRequire } from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const [packages, transportName, ...target] = process.argv.slice(2);
const load = createRequire(join(packages, "resolve-from-here.js"));
const { Client, StreamableHTTPClientTransport } = load("@modelcontextprotocol/client");
const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");
const answers = JSON.parse(await text(process.stdin));

function openTransport() {
  if (transportName === "http") return new StreamableHTTPClientTransport(new URL(target[0]));
  const [command, ...args] = target;
  return new StdioClientTransport({ command, args, env: process.env });
}

async function connect(capabilities) {
  const client = new Client({ name: "tests", version: "1.0.0" }, { capabilities, versionNegotiation: { mode: "auto" } });
  await client.connect(openTransport());
  return client;
}

const order = async (client) => {
  try {
    return { result: await client.callTool({ name: "order", arguments: { item: "tea" } }) };
  } catch (error) {
    return { code: error.code ?? null, message: String(error.message) };
  }
};

const client = await connect({ elicitation: { form: {} } });
const shown = [];
const results = [];
let given;
client.setRequestHandler("elicitation/create", async (request) => {
  shown.push(request.params);
  return given[request.params.message.split(" ")[1]];
});
for (given of answers) results.push(await order(client));
await client.close();

const bare = await connect({});
const refused = await order(bare);
await bare.close();
console.log(JSON.stringify({ results, shown, refused }));
