// Lets the TypeScript clients of both generations use the work-orders server:
// over HTTP in both eras, and over standard input and output.
//
//   node clients.mjs DESKHAND FIXTURES
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HTTPV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientV2, StreamableHTTPClientTransport as HTTPV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { calls } from './calls.mjs';
import { end, home, serve, started } from './server.mjs';

const [deskhand, fixtures] = process.argv.slice(2);
const me = { name: 'foreign', version: '1' };

// Each client makes connections, and calls a tool with options such as signal
// and timeout.
const clients = [
  {
    name: 'TypeScript v1', version: '2025-11-25',
    make: () => new ClientV1(me), HTTP: HTTPV1, Stdio: StdioV1,
    call: (client, params, options) => client.callTool(params, undefined, options),
  },
  {
    name: 'TypeScript v2, older era', version: '2025-11-25',
    make: () => new ClientV2(me), HTTP: HTTPV2, Stdio: StdioV2,
    call: (client, params, options) => client.callTool(params, options),
  },
  {
    name: 'TypeScript v2, newest era', version: '2026-07-28',
    make: () => new ClientV2(me, { versionNegotiation: { mode: 'auto' } }), HTTP: HTTPV2, Stdio: StdioV2,
    call: (client, params, options) => client.callTool(params, options),
  },
];

const overHTTP = (kind, { url, token }) => new kind.HTTP(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
const overPipes = (kind, command, args, env) => new kind.Stdio({ command, args, env: { ...process.env, ...env } });

async function connected(kind, transport, use) {
  const client = kind.make();
  await client.connect(transport);
  try {
    const version = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion;
    if (version !== undefined) assert.equal(version, kind.version, `${kind.name}: the protocol`);
    return await use(client, (name, args = {}, options = {}) => kind.call(client, { name, arguments: args }, options));
  } finally {
    await client.close();
  }
}

// book lists and calls every tool, is refused in each way, and orders twice with
// one key.
async function book(kind, transport) {
  await connected(kind, transport, async (client, call) => {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((t) => t.name).sort(), calls.map(([tool]) => tool).sort());
    const given = {};
    for (const [tool, args] of calls) {
      const result = await call(tool, args(given));
      assert.ok(!result.isError, `${kind.name}: ${tool}: ${JSON.stringify(result)}`);
      assert.equal(typeof result.structuredContent, 'object', tool);
      assert.equal(result.content[0].type, 'text', tool);
      given[tool] = result.structuredContent;
    }

    const refused = await call('lookup_work_order', { work_order_id: 'WO-9999' });
    assert.equal(refused.isError, true);
    assert.equal(refused.structuredContent.error.code, 'work_order_not_found');
    const misfit = await call('order_part', { work_order_id: 'WO-1044', sku: 'HE-3000-230', quantity: 1.5 });
    assert.equal(misfit.structuredContent.error.code, 'quantity_invalid');
    await assert.rejects(call('no_such_tool'), (e) => e.code === -32602);

    const order = { work_order_id: 'WO-1044', sku: 'HE-3000-230', quantity: 1, idempotency_key: 'ordered-only-once' };
    const [first, second] = [await call('order_part', order), await call('order_part', order)];
    assert.ok(!first.isError, JSON.stringify(first));
    assert.deepEqual(second.structuredContent, first.structuredContent, 'the same key gives the same answer');
  });
}

// one checks what lies in the book, with the program itself.
function one(kind, folder) {
  const orders = JSON.parse(execFileSync(deskhand, ['--home', folder, 'workorders', 'export'], { encoding: 'utf8', maxBuffer: 64 << 20 }))
    .part_orders.filter((o) => o.idempotency_key === 'ordered-only-once');
  assert.equal(orders.length, 1, `${kind.name}: one key is one order in the book`);
}

// until waits for something that other processes do.
async function until(what, condition) {
  for (const limit = Date.now() + 30_000; Date.now() < limit;) {
    if (await condition()) return;
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`waited for 30 s: ${what}`);
}

// leaving gives calls up, by hand and by time; the server must hear of it, and
// the session must stay usable.
async function leaving(kind, transport) {
  await connected(kind, transport, async (client, call) => {
    const waits = async () => (await call('waits')).structuredContent;
    const before = await waits();
    const abort = new AbortController();
    const aborted = assert.rejects(call('wait', {}, { signal: abort.signal, timeout: 60_000 }));
    await until('the call is out', async () => (await waits()).began === before.began + 1);
    abort.abort();
    await aborted;
    await until('the server hears of the abort', async () => (await waits()).cancelled === before.cancelled + 1);
    await assert.rejects(call('wait', {}, { timeout: 500 }), /timed out|timeout/i);
    await until('the server hears of the timeout', async () => {
      const { began, cancelled } = await waits();
      return began === cancelled;
    });
  });
}

try {
  const waiting = { url: await started(fixtures, [], { ...process.env, DESKHAND_TEST_FIXTURES: 'fixtures' }), token: 'fixtures' };
  for (const kind of clients) {
    const server = await serve(deskhand);
    await book(kind, overHTTP(kind, server));
    one(kind, server.folder);
    await leaving(kind, overHTTP(kind, waiting));

    const folder = home();
    await book(kind, overPipes(kind, deskhand, ['--home', folder, 'workorders', 'serve', '--stdio'], {}));
    one(kind, folder);
    await leaving(kind, overPipes(kind, fixtures, [], { DESKHAND_TEST_FIXTURES: 'stdio' }));
    console.log(`${kind.name} (${kind.version}): lists and calls every tool, is refused, orders once with one key, aborts and times out; over HTTP and pipes`);
  }
} finally {
  await end();
}
