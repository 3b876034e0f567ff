import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SetupError } from './error.mjs';
import { isExecutable } from './find-program.mjs';
import { checkRegistry, npm } from './npm.mjs';
import { readJson } from './read-json.mjs';
import { replaceDirectory } from './replace-directory.mjs';
import { run } from './run.mjs';
import { isAtLeast } from './version.mjs';

/**
 * The tests run on this Node. Older versions lack `using` declarations, UUIDv7 or type stripping. `engines` names the older Node
 * for the set-up alone.
 *
 * @type {string}
 */
const minimumNode = readJson(fileURLToPath(new URL('../../package.json', import.meta.url))).config.minimumNode;

/** @param {import('./machine.mjs').Machine} machine */
export function isReady(machine) {
  if (!needsPrivateNode(machine)) return true;
  const wanted = privateNode(machine);
  if (wanted === undefined || !isInstalled(machine, wanted)) return false;
  return readLink(machine) === linkTarget(machine, wanted);
}

/** @param {import('./machine.mjs').Machine} machine */
export async function prepare(machine) {
  const wanted = privateNode(machine);
  if (wanted === undefined) {
    throw new SetupError(
      `Node ${machine.nodeVersion} is too old, and the set-up has no newer one for ${machine.platform}-${machine.arch}.`,
      `Install Node ${minimumNode} or newer (nodejs.org, or a version manager) and run the command again.`,
    );
  }
  if (!isInstalled(machine, wanted)) await install(machine, wanted);
}

/**
 * npm puts `node_modules/.bin` first on PATH, so every later script runs on the private Node of this link, even
 * when npm runs on the old Node. Called after the dependencies, because `npm ci` deletes the link.
 *
 * @param {import('./machine.mjs').Machine} machine
 */
export function link(machine) {
  const wanted = needsPrivateNode(machine) ? privateNode(machine) : undefined;
  if (wanted === undefined) return;
  const place = linkPath(machine);
  const target = linkTarget(machine, wanted);
  if (readLink(machine) === target) return;
  fs.mkdirSync(path.dirname(place), { recursive: true });
  const fresh = `${place}.new`;
  fs.rmSync(fresh, { force: true });
  fs.symlinkSync(target, fresh);
  fs.renameSync(fresh, place);
}

/**
 * The Node for programs of this project, once the set-up has linked it.
 *
 * @param {import('./machine.mjs').Machine} machine
 */
export function nodeOf(machine) {
  return needsPrivateNode(machine) ? linkPath(machine) : machine.execPath;
}

/**
 * The package in the lock file with Node for a platform.
 *
 * @param {import('./dependencies.mjs').LockFile} lock
 * @param {string} platform
 * @param {string} arch
 */
export function platformPackage(lock, platform, arch) {
  for (const [place, { os = [], cpu = [], bin = {}, version, integrity }] of Object.entries(lock.packages)) {
    if ([os].flat().includes(platform) && [cpu].flat().includes(arch) && bin.node)
      return { place, bin: bin.node, version, integrity };
  }
  return undefined;
}

/** @typedef {NonNullable<ReturnType<typeof platformPackage>>} PrivateNode */

/** @param {import('./machine.mjs').Machine} machine */
function needsPrivateNode({ root, nodeVersion, execPath }) {
  return !isAtLeast(nodeVersion, minimumNode) || execPath.startsWith(cacheOf(root) + path.sep);
}

/** @param {import('./machine.mjs').Machine} machine */
function privateNode({ root, platform, arch }) {
  return platformPackage(readJson(path.join(root, 'scripts/runtime/package-lock.json')), platform, arch);
}

/**
 * @param {import('./machine.mjs').Machine} machine
 * @param {PrivateNode} wanted
 */
function isInstalled({ root }, { place, bin, integrity }) {
  const installed = readJson(path.join(cacheOf(root), 'node_modules/.package-lock.json'));
  return installed?.packages[place]?.integrity === integrity && isExecutable(path.join(cacheOf(root), place, bin));
}

/**
 * @param {import('./machine.mjs').Machine} machine
 * @param {PrivateNode} wanted
 */
async function install(machine, wanted) {
  const { root, nodeVersion, progress } = machine;
  progress(
    `Node ${nodeVersion} is older than ${minimumNode}: installing Node ${wanted.version} for this project (.cache/node)`,
  );
  const final = cacheOf(root);
  const fresh = `${final}.new`;
  fs.rmSync(fresh, { recursive: true, force: true });
  fs.mkdirSync(fresh, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) {
    fs.copyFileSync(path.join(root, 'scripts/runtime', file), path.join(fresh, file));
  }
  await npm(machine, fresh, ['ci']);
  const binary = path.join(fresh, wanted.place, wanted.bin);
  // The packages are optional, a package per platform, so npm does not fail when the download of the needed package fails.
  if (!isExecutable(binary)) {
    throw new SetupError(`npm could not fetch Node ${wanted.version} (${path.basename(wanted.place)}).`, checkRegistry);
  }
  await run(machine, [binary, '--version'], {
    cwd: root,
    env: machine.env,
    what: `Node ${wanted.version} for ${machine.platform}-${machine.arch} does not run on this machine`,
    next: `Install Node ${minimumNode} or newer with this system's own package manager and run the command again.`,
  });
  // 67 MB of headers, needed only by native add-ons.
  fs.rmSync(path.join(fresh, wanted.place, 'include'), { recursive: true, force: true });
  replaceDirectory(fresh, final);
  progress(`Node ${wanted.version} installed`);
}

/** @param {string} root */
function cacheOf(root) {
  return path.join(root, '.cache/node');
}

/** @param {import('./machine.mjs').Machine} machine */
function linkPath({ root }) {
  return path.join(root, 'node_modules/.bin/node');
}

/**
 * @param {import('./machine.mjs').Machine} machine
 * @param {PrivateNode} wanted
 */
function linkTarget(machine, { place, bin }) {
  return path.relative(path.dirname(linkPath(machine)), path.join(cacheOf(machine.root), place, bin));
}

/** @param {import('./machine.mjs').Machine} machine */
function readLink(machine) {
  try {
    return fs.readlinkSync(linkPath(machine));
  } catch {
    return undefined;
  }
}
