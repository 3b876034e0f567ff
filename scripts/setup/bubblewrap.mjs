import fs from 'node:fs';
import path from 'node:path';
import { canUnpackPackages, unpackPackage, writeLauncher } from './debian-package.mjs';
import { SetupError } from './error.mjs';
import { findProgram, isExecutable } from './find-program.mjs';
import { isAsRecorded, writeRecord } from './record-files.mjs';

const next = [
  'Tools run inside a sandbox, which needs bubblewrap. Do one of these and run the command again:',
  '  Debian, Ubuntu   sudo apt-get install bubblewrap',
  '  Fedora, RHEL     sudo dnf install bubblewrap',
  '  Arch             sudo pacman -S bubblewrap',
  '  Alpine           sudo apk add bubblewrap',
].join('\n');

/**
 * The sandbox looks only at `.cache/bubblewrap/bin/bwrap`: a link to the system's bubblewrap, or the launcher of the unpacked bubblewrap.
 * Only Linux has bubblewrap.
 *
 * @param {import('./machine.mjs').Machine} machine
 */
export function isReady(machine) {
  if (machine.platform !== 'linux') return true;
  const directory = place(machine);
  return isExecutable(path.join(directory, 'bin/bwrap')) && (!isUnpacked(directory) || isAsRecorded(directory));
}

/** @param {import('./machine.mjs').Machine} machine */
export async function prepare(machine) {
  const directory = place(machine);
  const installed = findProgram(machine, 'bwrap');
  if (installed !== undefined) return linkTo(directory, installed);
  if (isUnpacked(directory)) {
    if (isAsRecorded(directory)) return writeLauncher(machine, { directory, programs: ['bwrap'], next });
    machine.progress('the unpacked bubblewrap has changed: unpacking it again (.cache/bubblewrap)');
  }
  if (!canUnpackPackages(machine)) throw new SetupError('bubblewrap (bwrap) not found.', next);
  machine.progress('no bubblewrap found: unpacking the package of this distribution (.cache/bubblewrap)');
  await unpackPackage(machine, { directory, groups: ['bubblewrap'], programs: ['bwrap'], next });
  writeRecord(directory);
  machine.progress('bubblewrap unpacked');
}

/**
 * Lines for the user about isolation on this platform.
 *
 * @param {Pick<import('./machine.mjs').Machine, 'platform'>} machine
 */
export function notes({ platform }) {
  if (platform === 'linux') return [];
  return [
    `the sandbox (bubblewrap) exists on Linux only: on ${platform} a tool's files, network and processes are not isolated. The worker refuses to run tools unless you allow that; or run the worker in a Linux container or VM`,
  ];
}

/**
 * @param {string} directory
 * @param {string} program
 */
function linkTo(directory, program) {
  const place = path.join(directory, 'bin/bwrap');
  // The system's bubblewrap replaces the unpacked bubblewrap.
  fs.rmSync(directory, { recursive: true, force: true });
  fs.mkdirSync(path.dirname(place), { recursive: true });
  fs.symlinkSync(program, place);
}

/** @param {string} directory */
function isUnpacked(directory) {
  return fs.existsSync(path.join(directory, 'usr/bin/bwrap'));
}

/** @param {import('./machine.mjs').Machine} machine */
function place({ root }) {
  return path.join(root, '.cache/bubblewrap');
}
