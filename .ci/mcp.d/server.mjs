// Starts servers for the programs of this folder.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders = [];
const children = [];

// home is a new home for deskhand, with a demo book once it is served.
export function home() {
  const folder = mkdtempSync(join(tmpdir(), 'deskhand-'));
  folders.push(folder);
  return folder;
}

// serve serves a new demo book over HTTP.
export async function serve(deskhand) {
  const folder = home();
  const url = await started(deskhand, ['--home', folder, 'workorders', 'serve', '--addr', '127.0.0.1:0'], process.env);
  const token = execFileSync(deskhand, ['--home', folder, 'workorders', 'token'], { encoding: 'utf8' }).trim();
  return { url, token, folder };
}

// started starts a server and waits for the address that it prints.
export async function started(program, args, env) {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  let printed = '';
  for await (const piece of child.stdout) {
    printed += piece;
    const url = printed.match(/http:\/\/\S+\/mcp/)?.[0];
    if (url) return url;
  }
  throw new Error(`${program} ended before it listened: ${printed}`);
}

// end stops what was started and removes what was made.
export async function end() {
  await Promise.all(children.map((child) => new Promise((done) => {
    if (child.exitCode !== null || child.signalCode !== null) return done();
    child.once('exit', done);
    child.kill();
  })));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
