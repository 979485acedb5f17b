// Runs jobs of the long-job example with the TypeScript SDK's client; prints what came back as one JSON object.
//
//   node progress.mjs NODE_MODULES http URL
//   node progress.mjs NODE_MODULES stdio COMMAND [ARGUMENT ...]
//
// NODE_MODULES: folder that holds @modelcontextprotocol/client.
import { createRequire } from "node:module";
import { join } from "node:path";

const [packages, transportName, ...target] = process.argv.slice(2);
const load = createRequire(join(packages, "resolve-from-here.js"));
const { Client, StreamableHTTPClientTransport } = load("@modelcontextprotocol/client");
const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");

function openTransport() {
  if (transportName === "http") return new StreamableHTTPClientTransport(new URL(target[0]));
  const [command, ...args] = target;
  return new StdioClientTransport({ command, args, env: process.env });
}

const client = new Client({ name: "tests", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
await client.connect(openTransport());
const render = (pages, seconds, options) =>
  client.callTool({ name: "render", arguments: { pages, seconds_per_page: seconds } }, options);
const drafts = async () => (await client.callTool({ name: "unfinished", arguments: {} })).structuredContent;

// Asks until the cancelled job has cleaned up; gives up after ten seconds.
async function cleanedUp() {
  const end = Date.now() + 10_000;
  while (Date.now() < end) if (Object.keys(await drafts()).length === 0) return true;
  return false;
}

// How a call ended that was not to be answered.
async function failure(promise) {
  try {
    return { result: await promise };
  } catch (error) {
    return { failed: String(error.message) };
  }
}

const notes = [];
const result = await render(4, 0.1, { onprogress: (note) => notes.push(note) });

const together = await Promise.all(
  Array.from({ length: 20 }, async (_, index) => {
    const values = [];
    const answer = await render(index + 10, 0.05, { onprogress: (note) => values.push(note.progress) });
    return { values, text: answer.content[0].text };
  }),
);

const controller = new AbortController();
const begun = Promise.withResolvers ? Promise.withResolvers() : withResolvers();
const job = failure(render(10_000, 0.01, { signal: controller.signal, onprogress: () => begun.resolve() }));
await begun.promise;
const draftsWhileRunning = await drafts();
controller.abort("enough");
const aborted = await job;
const abortedCleanedUp = await cleanedUp();

const timedOut = await failure(render(10_000, 0.01, { timeout: 300 }));
const timedOutCleanedUp = await cleanedUp();
const last = await render(2, 0);

function withResolvers() {
  const found = {};
  found.promise = new Promise((resolve) => (found.resolve = resolve));
  return found;
}

const report = {
  notes,
  result,
  together,
  draftsWhileRunning,
  aborted,
  abortedCleanedUp,
  timedOut,
  timedOutCleanedUp,
  last,
};
await client.close();
console.log(JSON.stringify(report));
