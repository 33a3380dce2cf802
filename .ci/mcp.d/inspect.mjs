// Lets the inspector's command line list the tools of the work-orders server in
// strict mode and call every one of them, in both eras.
//
//   node inspect.mjs DESKHAND
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { calls } from './calls.mjs';
import { end, serve } from './server.mjs';

const inspector = join(import.meta.dirname, 'node_modules/.bin/mcp-inspector');

// inspect runs the inspector once and gives its exit code and its answer.
async function inspect({ url, token }, era, ...args) {
  const child = spawn(inspector, ['--cli', url, '--transport', 'http', '--protocol-era', era,
    '--header', `Authorization: Bearer ${token}`, '--format', 'json', '-q', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.on('data', (d) => { out += d; });
  child.stderr.on('data', (d) => { err += d; });
  const code = await new Promise((done) => child.on('close', done));
  return { code, err, result: out === '' ? undefined : JSON.parse(out).result };
}

async function era(name) {
  const server = await serve(process.argv[2]);
  const listed = await inspect(server, name, '--method', 'tools/list', '--strict');
  assert.equal(listed.code, 0, listed.err);
  assert.equal(listed.err.trim(), '', 'strict mode has something to say about a schema');
  assert.deepEqual(listed.result.tools.map((t) => t.name).sort(), calls.map(([tool]) => tool).sort(), 'the tools listed and the tools called');
  const given = {};
  for (const [tool, args] of calls) {
    const called = await inspect(server, name, '--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args(given)));
    assert.equal(called.code, 0, `${name}: ${tool}: ${called.err} ${JSON.stringify(called.result)}`);
    given[tool] = called.result.structuredContent;
    assert.equal(typeof given[tool], 'object', `${name}: ${tool}: structured content`);
  }
  const refused = await inspect(server, name, '--method', 'tools/call', '--tool-name', 'lookup_work_order', '--tool-args-json', '{"work_order_id":"WO-9999"}');
  assert.equal(refused.code, 5, `a refusal exits with 5, not ${refused.code}: ${refused.err}`);
  console.log(`inspector, ${name}: lists ${listed.result.tools.length} tools in strict mode, calls each, sees a refusal`);
}

try {
  await Promise.all([era('modern'), era('legacy')]);
} finally {
  await end();
}
