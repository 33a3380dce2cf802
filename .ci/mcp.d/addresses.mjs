// Writes where each package lies at a registry into the lock file of the current
// folder, so that npm need not ask for it package by package, which takes longer
// than the packages themselves. The committed file names no registry.
//
//   node addresses.mjs REGISTRY
import { readFileSync, writeFileSync } from 'node:fs';

const registry = process.argv[2].replace(/\/$/, '');
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
for (const [path, entry] of Object.entries(lock.packages)) {
  if (path === '') continue;
  const name = entry.name ?? path.split('node_modules/').pop();
  entry.resolved = `${registry}/${name}/-/${name.split('/').pop()}-${entry.version}.tgz`;
}
writeFileSync('package-lock.json', JSON.stringify(lock));
