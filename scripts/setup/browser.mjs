import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { findProgram, isExecutable } from './find-program.mjs';
import { npm } from './npm.mjs';
import { readJson } from './read-json.mjs';
import { replaceDirectory } from './replace-directory.mjs';
import { run } from './run.mjs';

/**
 * The browser of the tests of the console: HOLDPOINT_CHROMIUM, a Chromium of this system, or the unpacked package. A machine without a browser
 * skips these tests, so a failed download is a note and no failure of the set-up.
 */
const programs = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** @param {import('./machine.mjs').Machine} machine */
export function isReady(machine) {
  return isGiven(machine) || !isSupported(machine) || wasTried(machine);
}

/** @param {import('./machine.mjs').Machine} machine */
export async function prepare(machine) {
  machine.progress('no Chromium found: unpacking one for the tests of the console (.cache/browser)');
  const final = place(machine);
  const fresh = `${final}.new`;
  fs.rmSync(fresh, { recursive: true, force: true });
  fs.mkdirSync(fresh, { recursive: true });
  for (const file of ['package.json', 'package-lock.json'])
    fs.copyFileSync(path.join(lock(machine), file), path.join(fresh, file));
  try {
    await npm(machine, fresh, ['ci']);
    await unpack(machine, fresh);
    await start(machine, fresh);
    machine.progress('Chromium unpacked');
  } catch (error) {
    const [reason] = String(/** @type {Error} */ (error).message).split('\n');
    fs.rmSync(path.join(fresh, 'bin'), { recursive: true, force: true });
    machine.progress(`no Chromium: ${reason}. The tests of the console are skipped; HOLDPOINT_CHROMIUM may name one.`);
  }
  fs.rmSync(path.join(fresh, 'node_modules'), { recursive: true, force: true });
  replaceDirectory(fresh, final);
}

/**
 * The package has a program for x64 and a C library of 2023 or newer.
 *
 * @param {Pick<import('./machine.mjs').Machine, 'platform' | 'arch'>} machine
 */
function isSupported({ platform, arch }) {
  return platform === 'linux' && arch === 'x64';
}

/** @param {import('./machine.mjs').Machine} machine */
function isGiven(machine) {
  const named = machine.env.HOLDPOINT_CHROMIUM;
  return (named !== undefined && isExecutable(named)) || programs.some((name) => findProgram(machine, name));
}

/**
 * Whether this version is unpacked, or does not start on this machine: a second try would end the same way.
 *
 * @param {import('./machine.mjs').Machine} machine
 */
function wasTried(machine) {
  const tried = readJson(path.join(place(machine), 'package.json'));
  const wanted = readJson(path.join(lock(machine), 'package.json'));
  return tried !== undefined && JSON.stringify(tried.dependencies) === JSON.stringify(wanted.dependencies);
}

/**
 * The libraries of the package are for systems without NSS, and stand behind the libraries of the system.
 *
 * @param {import('./machine.mjs').Machine} machine
 * @param {string} directory
 */
async function unpack(machine, directory) {
  const packed = path.join(directory, 'node_modules/@sparticuz/chromium/bin');
  const bin = path.join(directory, 'bin');
  fs.mkdirSync(bin);
  await decompress(path.join(packed, 'chromium.br'), path.join(bin, 'program'));
  for (const name of ['al2023', 'fonts']) {
    const archive = path.join(directory, `${name}.tar`);
    await decompress(path.join(packed, `${name}.tar.br`), archive);
    await run(machine, ['tar', '-xf', archive, '-C', directory], {
      ...{ cwd: directory, env: machine.env, what: `${name}.tar cannot be unpacked`, next: 'Install tar.' },
    });
    fs.rmSync(archive);
  }
  fs.chmodSync(path.join(bin, 'program'), 0o755);
  fs.writeFileSync(path.join(bin, 'chromium'), launcher, { mode: 0o755 });
}

/**
 * @param {string} from
 * @param {string} to
 */
function decompress(from, to) {
  return pipeline(fs.createReadStream(from), createBrotliDecompress(), fs.createWriteStream(to));
}

/**
 * A browser that can be driven announces its address within half a minute.
 *
 * @param {import('./machine.mjs').Machine} machine
 * @param {string} directory
 * @returns {Promise<void>}
 */
function start({ env }, directory) {
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const args = [
    '--headless',
    '--disable-gpu',
    '--remote-debugging-port=0',
    `--user-data-dir=${path.join(directory, 'try')}`,
    ...asRoot,
  ];
  const child = spawn(path.join(directory, 'bin/chromium'), args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), 30_000);
  return new Promise((resolve, reject) => {
    let said = '';
    let isReady = false;
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said = (said + text).slice(-4096);
      if (!said.includes('DevTools listening on')) return;
      isReady = true;
      child.kill('SIGKILL');
    });
    child.on('error', reject);
    child.on('close', () => {
      clearTimeout(timer);
      fs.rmSync(path.join(directory, 'try'), { recursive: true, force: true, maxRetries: 5 });
      if (isReady) resolve();
      else reject(new Error(`the unpacked Chromium does not start: ${said.trim().split('\n').at(-1)}`));
    });
  });
}

const launcher = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
export LD_LIBRARY_PATH="\${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$here/../lib"
[ -d /etc/fonts ] || export FONTCONFIG_PATH="$here/.."
exec "$here/program" "$@"
`;

/** @param {import('./machine.mjs').Machine} machine */
function place({ root }) {
  return path.join(root, '.cache/browser');
}

/** @param {import('./machine.mjs').Machine} machine */
function lock({ root }) {
  return path.join(root, 'scripts/browser');
}
