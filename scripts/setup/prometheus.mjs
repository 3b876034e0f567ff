import path from 'node:path';
import { canUnpackPackages, unpackPackage, writeLauncher } from './debian-package.mjs';
import { SetupError } from './error.mjs';
import { findProgram, isExecutable } from './find-program.mjs';

const programs = ['prometheus', 'promtool'];
const next = [
  '`npm run test:seeing` scrapes a running system with Prometheus. Do one of these and run the command again:',
  '  macOS            brew install prometheus',
  '  Debian, Ubuntu   sudo apt-get install prometheus',
  '  Fedora           sudo dnf install golang-github-prometheus',
  '  Arch             sudo pacman -S prometheus',
  '  Alpine           sudo apk add prometheus',
].join('\n');

/**
 * Whether there are Prometheus and promtool: the system's, or the unpacked programs. Only the suite with Prometheus asks.
 *
 * @param {import('./machine.mjs').Machine} machine
 */
export function isReady(machine) {
  return programs.every((name) => findProgram(machine, name)) || isUnpacked(machine);
}

/** @param {import('./machine.mjs').Machine} machine */
export async function prepare(machine) {
  if (!canUnpackPackages(machine)) throw new SetupError('prometheus and promtool not found on PATH.', next);
  machine.progress('no Prometheus found: unpacking the package of this distribution (.cache/prometheus)');
  const [first = '', ...others] = programs;
  const directory = place(machine);
  await unpackPackage(machine, { directory, groups: ['prometheus'], programs: [first], next });
  for (const name of others) await writeLauncher(machine, { directory, programs: [name], next });
  machine.progress('Prometheus unpacked');
}

/** @param {import('./machine.mjs').Machine} machine */
function isUnpacked(machine) {
  return programs.every((name) => isExecutable(path.join(place(machine), 'bin', name)));
}

/** @param {import('./machine.mjs').Machine} machine */
function place({ root }) {
  return path.join(root, '.cache/prometheus');
}
