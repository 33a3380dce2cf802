// Runs the public conformance suite for one revision and judges it.
//
//   node conformance.mjs NAME URL REVISION LEFT_OUT.yml
//
// The suite itself judges what the revision requires: a failure that is not in
// the list fails, and so does a listed one that passes. It ignores scenarios
// that it runs without scoring them; these are held to the same list here.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [name, url, revision, list] = process.argv.slice(2);
const leftOut = [...readFileSync(list, 'utf8').matchAll(/^ {2}- (\S+)$/gm)].map((m) => m[1]);
const results = mkdtempSync(join(tmpdir(), 'conformance-'));
const wrong = [];
let output = '';
try {
  const suite = join(import.meta.dirname, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
  output = execFileSync(process.execPath,
    [suite, 'server', '--url', url, '--requirements', revision, '--expected-failures', list, '-o', results],
    { encoding: 'utf8', timeout: 120_000, maxBuffer: 64 << 20, stdio: ['ignore', 'pipe', 'inherit'] });
} catch (e) {
  output = e.stdout ?? '';
  wrong.push(`the suite ended with ${e.status ?? e.code ?? e.signal}`);
} finally {
  rmSync(results, { recursive: true, force: true });
}

output = output.replace(/\x1b\[\d+m/g, '');
const ran = [...output.matchAll(/^([✓✗]) (\S+): (\d+) passed, (\d+) failed$/gm)]
  .map(([, mark, scenario, passed]) => ({ scenario, good: mark === '✓', passed: Number(passed) }));
const unscored = [...output.matchAll(/^ {2}([✓✗]) (\S+) \(.+\)$/gm)].map(([, mark, scenario]) => ({ scenario, good: mark === '✓' }));
for (const { scenario, good } of unscored) {
  if (good && leftOut.includes(scenario)) wrong.push(`${scenario} passes: take it out of ${list}`);
  if (!good && !leftOut.includes(scenario)) wrong.push(`${scenario} fails (it is run without being scored)`);
}
for (const entry of leftOut) {
  if (!ran.some(({ scenario }) => scenario === entry.split(':')[0])) wrong.push(`${entry} is in ${list}, but was not run`);
}
const passing = ran.filter(({ scenario, good, passed }) => passed > 0 && (good ? !leftOut.includes(scenario) : leftOut.some((e) => e.startsWith(scenario + ':'))));
if (passing.length === 0) wrong.push('no scenario passed');

if (wrong.length > 0) {
  console.log(output.slice(output.indexOf('=== SUMMARY')));
  for (const w of wrong) console.log(`${name}, ${revision}: ${w}`);
  process.exit(1);
}
console.log(`conformance ${revision}, ${name}: ${passing.length} scenarios pass, ${passing.reduce((n, s) => n + s.passed, 0)} checks; ${leftOut.length} left out (${list.split('/').pop()})`);
