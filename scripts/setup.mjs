// Makes a fresh clone runnable: a recent Node, the dependencies, a Redis, a sandbox and the console, without root.
// Runs before `npm start`, `npm test` and `npm run check`. The set-up uses built-in modules only and runs on Node 18 or newer,
// because everything else is installed by the set-up. When nothing is missing the set-up ends immediately.
//
//   node scripts/setup.mjs [--production] [--prometheus] [--browser]
//
//   --production   leave the development dependencies out
//   --prometheus   bring Prometheus and promtool, too (100 MB, for `npm run test:seeing`)
//   --browser      bring a Chromium where the machine has none, too (70 MB, for the tests of the console)
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import * as browser from './setup/browser.mjs';
import * as bubblewrap from './setup/bubblewrap.mjs';
import * as webConsole from './setup/console.mjs';
import { removeLists } from './setup/debian-package.mjs';
import * as dependencies from './setup/dependencies.mjs';
import { SetupError } from './setup/error.mjs';
import { waitForLeftRunning } from './setup/left-running.mjs';
import { withLock } from './setup/lock.mjs';
import * as nodeRuntime from './setup/node-runtime.mjs';
import { checkPrograms } from './setup/programs.mjs';
import * as prometheus from './setup/prometheus.mjs';
import * as redis from './setup/redis.mjs';

const parts = [nodeRuntime, dependencies, redis, bubblewrap];
if (process.argv.includes('--prometheus')) parts.push(prometheus);
if (process.argv.includes('--browser')) parts.push(browser);

/** @param {import('./setup/machine.mjs').Machine} machine */
async function setUp(machine) {
  checkPrograms(machine);
  if ([...parts, webConsole].every((part) => part.isReady(machine))) return;
  await withLock({ path: path.join(machine.root, '.cache/setup.lock'), progress: machine.progress }, async () => {
    await waitForLeftRunning(machine);
    // Package lists of an interrupted set-up may be old, or half there.
    removeLists(machine);
    // Checked again under the lock: another set-up may have done the work. The parts are independent and mostly wait
    // for the network, so they run in parallel.
    const results = await Promise.allSettled(
      parts.filter((part) => !part.isReady(machine)).map((part) => part.prepare(machine)),
    );
    removeLists(machine);
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures);
    nodeRuntime.link(machine);
    // Last: the build runs on this Node and needs the dependencies.
    if (!webConsole.isReady(machine)) await webConsole.prepare(machine);
  });
  for (const note of bubblewrap.notes(machine)) machine.progress(note);
  machine.progress('ready');
}

/** The dependencies and a Node, in MiB. */
const wholeSetUp = 700;

/** @param {unknown} error @param {string} root */
function report(error, root) {
  const errors = error instanceof AggregateError ? error.errors : [error];
  for (const one of errors) {
    const text = one instanceof SetupError ? `${one.message}\n${one.next}` : String(one?.stack ?? one);
    process.stderr.write(`\nSet-up failed: ${text}\n`);
  }
  // Absent before Node 18.15.
  const disk = fs.statfsSync?.(root);
  const free = disk && Math.floor((disk.bavail * disk.bsize) / 2 ** 20);
  if (free === undefined || free >= wholeSetUp) return;
  process.stderr.write(
    `\nOnly ${free} MiB are free on the disk of this directory. A whole set-up takes about ${wholeSetUp} MiB: free some, and run the command again.\n`,
  );
}

/** Prints lines on standard error, with the seconds since the start. */
function createProgress() {
  const start = Date.now();
  return (/** @type {string} */ text) => {
    process.stderr.write(`[setup ${((Date.now() - start) / 1000).toFixed(1).padStart(5)} s] ${text}\n`);
  };
}

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
try {
  await setUp({
    root,
    platform: process.platform,
    arch: process.arch,
    nodeVersion: process.versions.node,
    execPath: process.execPath,
    env: process.env,
    production: process.argv.includes('--production'),
    progress: createProgress(),
  });
} catch (error) {
  report(error, root);
  process.exitCode = 1;
}
