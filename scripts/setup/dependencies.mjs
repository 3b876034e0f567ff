import path from 'node:path';
import { npm } from './npm.mjs';
import { readJson } from './read-json.mjs';

/**
 * npm writes `node_modules/.package-lock.json` at the end of every installation. A comparison with the lock file
 * finds missing packages. A stamp file of our own could disagree with npm. The comparison costs about 4 ms.
 *
 * @typedef {{version?: string, integrity?: string, link?: boolean, dev?: boolean, optional?: boolean, devOptional?: boolean,
 *   os?: string | string[], cpu?: string | string[], bin?: Record<string, string>}} LockedPackage
 * @typedef {{packages: Record<string, LockedPackage>}} LockFile
 */

/** @param {import('./machine.mjs').Machine} machine */
export function isReady(machine) {
  return matches(machine, machine.production);
}

/** @param {import('./machine.mjs').Machine} machine */
export async function prepare(machine) {
  const { root, production, progress } = machine;
  if (!production && matches(machine, true)) {
    // Going from production to development only adds packages. `npm ci` would first delete packages in use by a running system.
    progress('npm install: adding the development dependencies');
    await npm(machine, root, ['install', '--no-save', '--include=dev']);
  } else {
    progress(`npm ci: installing the dependencies${production ? ' (without development dependencies)' : ''}`);
    await npm(machine, root, ['ci', production ? '--omit=dev' : '--include=dev']);
  }
  progress('dependencies installed');
}

/**
 * @param {import('./machine.mjs').Machine} machine
 * @param {boolean} production
 */
function matches({ root }, production) {
  const lock = readJson(path.join(root, 'package-lock.json'));
  const installed = readJson(path.join(root, 'node_modules/.package-lock.json'));
  return isInstalled(lock, installed, { production });
}

/**
 * Whether everything in the lock file is installed. Optional packages (other platforms' binaries) may be absent;
 * packages missing in the lock file are ignored.
 *
 * @param {LockFile} lock
 * @param {LockFile | undefined} installed
 * @param {{production: boolean}} options
 */
export function isInstalled(lock, installed, { production }) {
  if (installed === undefined) return false;
  return Object.entries(lock.packages).every(([place, wanted]) => {
    if (!place.includes('node_modules/')) return true;
    if (production && wanted.dev === true) return true;
    const found = installed.packages[place];
    if (found === undefined) return wanted.optional === true || wanted.devOptional === true;
    return found.version === wanted.version && found.integrity === wanted.integrity;
  });
}
