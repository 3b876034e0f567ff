import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { nodeOf } from './node-runtime.mjs';
import { run } from './run.mjs';

/**
 * Whether the built console has the present sources, about 5 ms. A stamp in `.cache` names the built sources; a clone without a build script has
 * no console to build.
 *
 * @param {import('./machine.mjs').Machine} machine
 */
export function isReady({ root }) {
  if (!fs.existsSync(script(root))) return true;
  if (!fs.existsSync(path.join(root, 'apps/console/dist/index.html'))) return false;
  return fs.existsSync(stamp(root)) && fs.readFileSync(stamp(root), 'utf8') === digestOf(root);
}

/**
 * Builds the console. The build script replaces the folder as a whole, so a running API serves the old files or the new files.
 *
 * @param {import('./machine.mjs').Machine} machine
 */
export async function prepare(machine) {
  const { root, progress } = machine;
  progress('building the console (apps/console/dist)');
  // Sources that change during the build are built again by the next set-up.
  const built = digestOf(root);
  await run(machine, [nodeOf(machine), script(root)], {
    cwd: root,
    env: machine.env,
    doing: 'building the console',
    what: 'The console could not be built',
    next: 'Read the lines above, correct the sources in apps/console, and run the command again.',
  });
  fs.mkdirSync(path.dirname(stamp(root)), { recursive: true });
  fs.writeFileSync(stamp(root), built);
}

/** @param {string} root */
const script = (root) => path.join(root, 'apps/console/build.ts');
/** @param {string} root */
const stamp = (root) => path.join(root, '.cache/console-sources');

/** @param {string} root */
function digestOf(root) {
  const digest = createHash('sha256');
  const own = filesBelow(path.join(root, 'apps/console'));
  const shared = filesBelow(path.join(root, 'packages/readable/src'));
  for (const file of [...own, ...shared, path.join(root, 'package-lock.json')].sort()) {
    if (!fs.existsSync(file)) continue;
    digest.update(path.relative(root, file)).update('\0').update(fs.readFileSync(file)).update('\0');
  }
  return digest.digest('hex');
}

/**
 * @param {string} directory
 * @returns {string[]}
 */
function filesBelow(directory) {
  if (!fs.existsSync(directory)) return [];
  return fs.readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (/^(dist.*|node_modules|tests)$/.test(entry.name)) return [];
    const file = path.join(directory, entry.name);
    if (entry.isDirectory()) return filesBelow(file);
    return entry.isFile() ? [file] : [];
  });
}
