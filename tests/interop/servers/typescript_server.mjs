// The same small server on the TypeScript SDK: `typescript_server.mjs NODE_MODULES stdio|http`.
// On HTTP it says its URL on standard error.

import { createServer } from "node:http";
import { createRequire } from "node:module";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";

const [folder, transport] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${folder}/`));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { McpServer, ResourceTemplate, createMcpHandler } = await load("@modelcontextprotocol/server");
const { serveStdio } = await load("@modelcontextprotocol/server/stdio");
const { z } = await load("zod");

const text = (value, more = {}) => ({ content: [{ type: "text", text: value }], ...more });

function make() {
  const server = new McpServer({ name: "interop", version: "1.2.3" }, { instructions: "For tests." });
  server.registerTool("echo", { description: "Return the text.", inputSchema: z.object({ text: z.string() }) },
    async ({ text: value }) => text(value));
  server.registerTool("add", {
    description: "Add two numbers.",
    inputSchema: z.object({ a: z.int(), b: z.int().default(1) }),
    outputSchema: z.object({ sum: z.int() }),
  }, async ({ a, b }) => text(JSON.stringify({ sum: a + b }), { structuredContent: { sum: a + b } }));
  server.registerTool("refuse", { description: "Fail.", inputSchema: z.object({}) }, async () => {
    throw new Error("not today");
  });
  server.registerTool("count", { description: "Report progress.", inputSchema: z.object({ to: z.int() }) },
    async ({ to }, ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      for (let number = 1; progressToken !== undefined && number <= to; number++) {
        await ctx.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress: number, total: to, message: `step ${number}` },
        });
      }
      return text("counted");
    });
  server.registerResource("greeting", "test://greeting", { mimeType: "text/plain" },
    async (uri) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text: "hello" }] }));
  server.registerResource("personal", new ResourceTemplate("test://greeting/{name}", { list: undefined }), {},
    async (uri, { name }) => ({ contents: [{ uri: uri.href, text: `hello ${name}` }] }));
  server.registerPrompt("review", { description: "Ask for a review.", argsSchema: z.object({ code: z.string() }) },
    async ({ code }) => ({ messages: [{ role: "user", content: { type: "text", text: `Review: ${code}` } }] }));
  return server;
}

if (transport === "stdio") {
  serveStdio(make);
} else {
  const handler = createMcpHandler(make);
  const server = createServer(async (request, response) => {
    const body = ["GET", "HEAD"].includes(request.method) ? {} : { body: Readable.toWeb(request), duplex: "half" };
    const url = `http://${request.headers.host}${request.url}`;
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const answer = await handler.fetch(
      new Request(url, { method: request.method, headers: request.headers, signal: gone.signal, ...body }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) Readable.fromWeb(answer.body).pipe(response);
    else response.end();
  });
  server.listen(0, "127.0.0.1", () => console.error(`http://127.0.0.1:${server.address().port}`));
}
