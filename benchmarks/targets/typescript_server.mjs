// The workloads on the TypeScript SDK v2: `node typescript_server.mjs TRANSPORT PORT TOOLS PAGE`, see material.py.
// As its documentation shows: createMcpHandler on node:http, JSON unless a call streams; serveStdio. There is one thread,
// so there is no `def` tool in a thread, and every function is "inline".

import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(process.env.BENCH_NODE_MODULES + '/package.json');
const load = name => import(pathToFileURL(require.resolve(name)).href);
const { McpServer, acceptedContent, createMcpHandler, createRequestStateCodec, inputRequired } = await load(
    '@modelcontextprotocol/server'
);
const z = await load('zod');

const [transport, port, tools] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const THING = 'bench://thing';
const LINE = 'The quick brown fox "jumps" over the lazy dog, 1,234 times.\n';
const text = LINE.repeat(262144 / LINE.length + 1).slice(0, 262144);
const image = Buffer.alloc(5 * 1024 * 1024);
for (let at = 0; at < image.length; at += 32) createHmac('sha256', 'seed').update(String(at)).digest().copy(image, at);

const Line = z.object({ sku: z.string(), quantity: z.number().int().min(1).max(100), price: z.number() });
const Order = z.object({
    order: z.object({
        customer: z.object({ name: z.string(), email: z.string() }),
        lines: z.array(Line),
        note: z.string().nullish()
    })
});
const Receipt = z.object({
    customer: z.string(),
    items: z.number().int(),
    total: z.number(),
    lines: z.array(z.object({ sku: z.string(), amount: z.number() }))
});
const Text = z.object({ text: z.string() });
const Nothing = z.object({});
const Count = z.object({ count: z.number().int() });
const Consent = z.object({ ok: z.boolean() });
const Search = z.object({ query: z.string(), limit: z.number().int().min(1).max(50).default(10) });
const said = words => ({ content: [{ type: 'text', text: words }] });
const codec = createRequestStateCodec({ key: 'a key of at least thirty-two bytes, for the benchmark' });
let handler;

function build() {
    const server = new McpServer(
        { name: 'bench', version: '1.0' },
        { capabilities: { resources: { subscribe: true } }, requestState: { verify: codec.verify } }
    );
    server.registerTool('echo', { description: 'Return the text.', inputSchema: Text }, async ({ text }) => said(text));
    if (tools) {
        for (let number = 0; number < tools - 1; number++) {
            const name = `search_${String(number).padStart(4, '0')}`;
            const description = `Search catalog ${number} by title or author.`;
            server.registerTool(name, { description, inputSchema: Search }, async ({ query }) => said(query));
        }
        return server;
    }
    server.registerTool('echo_inline', { inputSchema: Text }, ({ text }) => said(text));
    server.registerTool('order', { inputSchema: Order, outputSchema: Receipt }, async ({ order }) => {
        const lines = order.lines.map(line => ({ sku: line.sku, amount: line.quantity * line.price }));
        const items = order.lines.reduce((sum, line) => sum + line.quantity, 0);
        const total = lines.reduce((sum, line) => sum + line.amount, 0);
        const receipt = { customer: order.customer.name, items, total, lines };
        return { ...said(JSON.stringify(receipt)), structuredContent: receipt };
    });
    server.registerTool('long_text', { inputSchema: Nothing }, async () => said(text));
    server.registerTool('picture', { inputSchema: Nothing }, async () => ({
        content: [{ type: 'image', data: image.toString('base64'), mimeType: 'image/png' }]
    }));
    server.registerTool('progress', { inputSchema: Count }, async ({ count }, ctx) => {
        const progressToken = ctx.mcpReq._meta?.progressToken;
        for (let number = 1; number <= count; number++) {
            const params = { progressToken, progress: number, total: count };
            await ctx.mcpReq.notify({ method: 'notifications/progress', params });
        }
        return said('done');
    });
    server.registerTool('confirm', { inputSchema: Nothing }, async (_, ctx) => {
        const consent = acceptedContent(ctx.mcpReq.inputResponses, 'consent', Consent);
        if (consent === undefined) {
            return inputRequired({
                inputRequests: { consent: inputRequired.elicit({ message: 'Do it?', requestedSchema: Consent }) },
                requestState: await codec.mint({ asked: true }, ctx)
            });
        }
        return said(consent.ok && ctx.mcpReq.requestState()?.asked ? 'done' : 'left');
    });
    server.registerResource('thing', THING, {}, async () => ({ contents: [{ uri: THING, text: 'a thing' }] }));
    server.registerTool('touch', { inputSchema: Nothing }, async () => {
        handler.notify.resourceUpdated(THING);
        return said('touched');
    });
    return server;
}

if (transport === 'http') {
    const { localhostHostValidation, localhostOriginValidation, toNodeHandler } = await load('@modelcontextprotocol/node');
    handler = createMcpHandler(build);
    const serve = toNodeHandler(handler);
    const [checkHost, checkOrigin] = [localhostHostValidation(), localhostOriginValidation()];
    createServer((request, response) => {
        if (checkHost(request, response) && checkOrigin(request, response)) void serve(request, response);
    }).listen(port, '127.0.0.1');
} else {
    const { serveStdio } = await load('@modelcontextprotocol/server/stdio');
    serveStdio(build);
}
