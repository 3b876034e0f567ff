import path from 'node:path';
import { isInstalled } from './installed.mjs';
import { npm } from './npm.mjs';
import { readJson } from './read-json.mjs';

/** @param {import('./machine.mjs').Machine} machine */
export function isReady(machine) {
  return matches(machine, machine.production);
}

/** @param {import('./machine.mjs').Machine} machine */
export async function prepare(machine) {
  const { root, production, progress } = machine;
  if (!production && matches(machine, true)) {
    // Going from production to development only adds packages. `npm ci` would first delete what a running system uses.
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
