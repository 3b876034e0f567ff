import fs from 'node:fs';
import path from 'node:path';
import { SetupError } from './error.mjs';
import { findProgram } from './find-program.mjs';
import { replaceDirectory } from './replace-directory.mjs';
import { run } from './run.mjs';

/**
 * @typedef {object} Unpacking
 * @property {string} directory destination
 * @property {string[]} groups alternatives, see get-debian-package.sh
 * @property {string[]} programs the launcher starts the first existing program
 * @property {string} next the user's next step after a failure
 */

/** @param {import('./machine.mjs').Machine} machine */
export function canUnpackPackages(machine) {
  return (
    machine.platform === 'linux' && ['apt-get', 'apt-cache', 'dpkg-deb'].every((name) => findProgram(machine, name))
  );
}

/**
 * Unpacks a package of the alternatives into a directory, with a launcher `bin/<program>` for the unpacked libraries.
 *
 * @param {import('./machine.mjs').Machine} machine
 * @param {Unpacking} options
 * @returns {Promise<void>}
 */
export function unpackPackage(machine, options) {
  const mine = turn.then(() => unpack(machine, options));
  turn = mine.catch(() => undefined);
  return mine;
}

/** Packages are unpacked in sequence: the second finds the package lists of the first. */
let turn = Promise.resolve();

/**
 * Removes the package lists (19 MB on Debian 12).
 *
 * @param {import('./machine.mjs').Machine} machine
 */
export function removeLists({ root }) {
  fs.rmSync(listsOf(root), { recursive: true, force: true });
}

/** @type {(machine: import('./machine.mjs').Machine, options: Unpacking) => Promise<void>} */
async function unpack(machine, options) {
  try {
    await unpackOnce(machine, options);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    machine.progress(`${options.groups.join(' or ')}: ${error.message.split('\n', 1)[0]}; trying once more`);
    await unpackOnce(machine, { ...options, next: `${afterOtherApt}\n${options.next}` });
  }
}

const afterOtherApt =
  'If another program installs packages at this moment (apt, unattended-upgrades), wait for it and run the command again. Otherwise:';

/** @type {(machine: import('./machine.mjs').Machine, options: Unpacking) => Promise<void>} */
async function unpackOnce(machine, { directory, groups, programs, next }) {
  const fresh = `${directory}.new`;
  fs.rmSync(fresh, { recursive: true, force: true });
  try {
    await run(
      machine,
      ['sh', path.join(machine.root, 'scripts/get-debian-package.sh'), fresh, listsOf(machine.root), ...groups],
      {
        cwd: machine.root,
        env: machine.env,
        doing: `getting ${groups.join(' or ')} from this system's package sources`,
        what: `cannot get ${groups.join(' or ')} from this system's package sources`,
        next,
      },
    );
    await writeLauncher(machine, { directory: fresh, programs, next });
    replaceDirectory(fresh, directory);
  } finally {
    fs.rmSync(fresh, { recursive: true, force: true });
  }
}

/**
 * Writes `bin/<program>`: a link when the program finds its libraries on this system, otherwise a script with a call of the
 * dynamic loader. LD_LIBRARY_PATH would work too, but the program's children would inherit the variable. Both use
 * relative paths, so the directory can be moved.
 *
 * @param {Pick<import('./machine.mjs').Machine, 'root'>} machine
 * @param {Pick<Unpacking, 'directory' | 'programs' | 'next'>} options
 */
export async function writeLauncher(machine, { directory, programs, next }) {
  const program = programs.find((name) => fs.existsSync(path.join(directory, 'usr/bin', name)));
  if (program === undefined) throw new SetupError(`${programs.join(' or ')} is not in the unpacked packages.`, next);
  const launcher = path.join(directory, 'bin', program);
  fs.mkdirSync(path.dirname(launcher), { recursive: true });
  fs.rmSync(launcher, { force: true });
  fs.symlinkSync(path.join('../usr/bin', program), launcher);
  const check = () =>
    run(machine, [launcher, '--version'], {
      cwd: directory,
      env: {},
      what: `${program} was unpacked but does not run`,
      next,
    });
  try {
    await check();
  } catch {
    fs.rmSync(launcher);
    fs.writeFileSync(launcher, loaderScript(directory, program), { mode: 0o755 });
    await check();
  }
}

/**
 * @param {string} directory
 * @param {string} program
 */
function loaderScript(directory, program) {
  const libraries = ['usr/lib', 'lib']
    .flatMap((place) => subdirectories(path.join(directory, place)))
    .filter((place) => fs.readdirSync(place).some((file) => file.includes('.so.')))
    .map((place) => `$here/${path.relative(directory, place)}`);
  return [
    '#!/bin/sh',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell expands it
    'here=${0%/bin/*}',
    `exec ${interpreterOf(path.join(directory, 'usr/bin', program))} --library-path "${libraries.join(':')}" "$here/usr/bin/${program}" "$@"`,
    '',
  ].join('\n');
}

/** @param {string} directory */
function subdirectories(directory) {
  if (!fs.existsSync(directory)) return [];
  const inside = fs.readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [directory, ...inside.map((entry) => path.join(directory, entry.name))];
}

/**
 * The dynamic loader named by a program, a string in the first 4 KiB of the file.
 *
 * @param {string} program
 */
function interpreterOf(program) {
  const head = fs.readFileSync(program).subarray(0, 4096).toString('latin1');
  return /\/lib[\w/.-]*\/ld-[\w.-]+/.exec(head)?.[0] ?? '/lib64/ld-linux-x86-64.so.2';
}

/** @param {string} root */
function listsOf(root) {
  return path.join(root, '.cache/apt');
}
