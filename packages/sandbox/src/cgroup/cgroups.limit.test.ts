import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identify, pidNamespace } from '@holdpoint/process';
import { expect } from 'vitest';
import { resolveLimits } from '../limits.ts';
import { openSandbox } from '../open-sandbox.ts';
import type { WorkspaceMount } from '../port.ts';
import { probeCgroupLimits } from '../probe-cgroup-limits.ts';
import { openTestDriver, until, useTestHost } from '../testing/host.ts';
import { type CgroupDir, makeCgroupDirs } from './cgroup-dir.ts';
import { openCgroups } from './cgroups.ts';
import { locateHierarchies } from './locate.ts';

const mib = 1024 * 1024;

const { host, test } = useTestHost();

const enforced = openCgroups()?.limits;
/** Skipped, with the reason in its name, where this host allows no control groups. */
const inCgroup = (name: string, body: (own: { workspace: WorkspaceMount }) => Promise<void>) =>
  test.runIf(enforced?.memory && enforced.processes && enforced.cpu)(
    enforced ? name : `${name} (not run: control groups need root, or a delegated group)`,
    body,
  );

const cgroupDirs = (): CgroupDir[] =>
  makeCgroupDirs(
    locateHierarchies(readFileSync('/proc/self/mountinfo', 'utf8'), readFileSync('/proc/self/cgroup', 'utf8')),
  );
/** The parents of the groups of commands, and of tool hosts and parsers. */
const parents = (): string[] => [...new Set(cgroupDirs().flatMap(({ directory, own }) => [directory, own]))];
const ownGroups = () =>
  parents().flatMap((directory) => readdirSync(directory).filter((name) => name.includes(`-${process.pid}-`)));

inCgroup('one memory limit applies to all processes together', async ({ workspace }) => {
  const limits = { memory_bytes: 64 * mib };
  const quota = { status: 'quota', quota: 'memory', limit: 64 * mib };
  const hog = await host.run(workspace, `printf -v hog '%*s' ${128 * mib} ''`, { limits });
  expect(hog.end).toEqual(quota);
  // No single process is over the limit.
  const herd = 'for i in 1 2 3 4; do (printf -v hog "%*s" 30000000 ""; sleep 1000) & done; wait';
  expect((await host.run(workspace, herd, { limits })).end).toEqual(quota);
  // A shell that continues after its child was killed does not hide the kill.
  const hidden = await host.run(workspace, `(printf -v hog '%*s' ${128 * mib} ''); exit 0`, { limits });
  expect(hidden.end).toEqual(quota);
  const shared = await host.run(workspace, 'head -c 100M /dev/zero > /tmp/fill', {
    limits: { memory_bytes: 32 * mib },
  });
  expect(shared.end).toMatchObject({ status: 'quota', quota: 'memory' });
});

inCgroup('address space and the page cache do not count as memory', async ({ workspace }) => {
  const limits = { memory_bytes: 256 * mib };
  const wasm =
    'node -e "new WebAssembly.Memory({initial: 1, maximum: 65536}); new Array(1e6).fill(1.5); console.log(1)"';
  const reserved = await host.run(workspace, wasm, { limits });
  expect([reserved.stdout.text, reserved.end]).toEqual(['1\n', { status: 'exited', exit_code: 0, signal: null }]);
  const cached = await host.run(workspace, 'head -c 120M /dev/zero > file', { limits: { memory_bytes: 48 * mib } });
  expect(cached.end).toMatchObject({ status: 'exited', exit_code: 0 });
});

inCgroup('a fork bomb is killed, a program that copes with a refused fork is not', async ({ workspace }) => {
  const limits = { processes: 20 };
  const bomb = `
import os
while True:
    try:
        os.fork()
    except BlockingIOError:
        pass
`;
  const quota = { status: 'quota', quota: 'processes', limit: 20 };
  const run = (program: string) => host.exec(workspace, ['/usr/bin/python3', '-c', program], { limits });
  expect((await run(bomb)).end).toEqual(quota);
  const once = (end: string) => `
import os, time
try:
    for i in range(30):
        if os.fork() == 0:
            time.sleep(1000)
except BlockingIOError:
    os._exit(${end})
`;
  expect((await run(once('0'))).end).toEqual({ status: 'exited', exit_code: 0, signal: null });
  expect((await run(once('1'))).end).toEqual(quota);
});

inCgroup('one CPU time limit applies to all processes together', async () => {
  const line = 'for i in 1 2 3 4; do (while :; do :; done) & done; wait';
  const { end } = await host.run(host.makeWorkspace(), line, { limits: { cpu_total_seconds: 1 } });
  expect(end).toEqual({ status: 'quota', quota: 'cpu', limit: 1 });
});

/** CPU ticks of the processes of a workspace's user that run now. Each workspace of a root host has a user of its own. */
function ticksOf({ uid }: WorkspaceMount): number {
  return readdirSync('/proc').reduce((sum, pid) => {
    try {
      if (!/^\d+$/.test(pid) || statSync(`/proc/${pid}`).uid !== uid) return sum;
      const [, , , , , , , , , , , user = 0, system = 0] = readFileSync(`/proc/${pid}/stat`, 'latin1')
        .replace(/^.*\) /, '')
        .split(' ')
        .map(Number);
      return sum + user + system;
    } catch {
      return sum; // it has ended
    }
  }, 0);
}

inCgroup('a tool host does not wait behind the commands of other runs', async ({ workspace }) => {
  const searched = host.makeWorkspace();
  // ripgrep has no shortcut for this pattern: it reads half a megabyte a second.
  writeFileSync(join(searched.path, 'text'), `${'éa '.repeat(330)}\n`.repeat(8 * 1024), { mode: 0o644 });
  const stop = new AbortController();
  const busy = [workspace, ...Array.from({ length: 5 }, () => host.makeWorkspace())];
  const commands = busy.map((one) =>
    host.run(one, 'for i in 1 2 3 4; do (while :; do :; done) & done; touch up; wait', { signal: stop.signal }),
  );
  await until(() => busy.every(({ path }) => existsSync(join(path, 'up'))));
  const args = ['-j1', '-a', '--no-mmap', '-c', '-e', '\\b(\\w+\\b.){1,40}\\d'];
  const searching = host.sandbox.search({ workspace: searched, path: '.', args, signal: stop.signal });
  await until(() => ticksOf(searched) > 50);
  const before = { own: ticksOf(searched), theirs: busy.reduce((sum, one) => sum + ticksOf(one), 0) };
  await until(() => ticksOf(searched) > before.own + 100);
  const own = ticksOf(searched) - before.own;
  const theirs = busy.reduce((sum, one) => sum + ticksOf(one), 0) - before.theirs;
  stop.abort();
  await Promise.allSettled([...commands, searching]);
  // Among equals the search gets an eighth of two processors. Its weight is twice that of all commands: four fifths of the one that it runs on.
  expect(own / (own + theirs)).toBeGreaterThan(0.28);
});

inCgroup('a run with more commands gets no larger share of the processors', async () => {
  // All commands compute in the same eight seconds, after the last of them is up, and print their CPU time before and after them.
  const line = (index: number) => `touch up-${index}; until [ -s go ]; do sleep 0.02; done; begin=$(<go)
    until ((EPOCHSECONDS >= begin)); do sleep 0.02; done; times
    for i in {1..8}; do (while ((EPOCHSECONDS < begin + 8)); do :; done) & done; wait; times`;
  const [greedy, modest] = [host.makeWorkspace(), host.makeWorkspace()];
  const workspaces = [modest, ...Array.from({ length: 5 }, () => greedy)];
  const computing = Promise.all(
    workspaces.map(async (workspace, index) => childSeconds((await host.run(workspace, line(index))).stdout.text)),
  );
  await until(() => workspaces.every(({ path }, index) => existsSync(join(path, `up-${index}`))));
  const begin = `${Math.ceil(Date.now() / 1000) + 1}\n`;
  for (const { path } of [greedy, modest]) writeFileSync(join(path, 'go'), begin);
  const [own, ...others] = await computing;
  const theirs = others.reduce((sum, one) => sum + one, 0);
  // Half of the total. It would be a sixth if each command had its own share.
  expect((own ?? 0) / ((own ?? 0) + theirs)).toBeGreaterThan(0.35);
});

inCgroup('a command leaves no control group behind, however it ends', async ({ workspace }) => {
  const second = await openSandbox(host.options);
  const before = new Set(ownGroups());
  const made = () => ownGroups().filter((name) => !before.has(name));
  const running = Promise.allSettled([
    second.run({ workspace, argv: ['/bin/true'], signal: new AbortController().signal }),
    second.run({ workspace, argv: ['/bin/sleep', '1000'], signal: AbortSignal.timeout(50) }),
    second.run({
      ...{ workspace, signal: new AbortController().signal, limits: { wall_ms: 1000 } },
      argv: ['/bin/bash', '-c', 'for i in {1..50}; do setsid sleep 1000 & done; wait'],
    }),
    second.run({ workspace, argv: ['/bin/true'], cwd: 'missing', signal: new AbortController().signal }),
  ]);
  await until(() => made().length > 0);
  await running;
  await second[Symbol.asyncDispose](); // ends the spare, if one waits
  expect(made()).toEqual([]);
});

inCgroup('groups of a dead worker are removed with their processes, others stay', async () => {
  const cgroups = openCgroups() ?? expect.fail();
  const living = cgroups.make(resolveLimits(), { workspace: 'run_living', isOwn: false });
  const dead = spawn('/bin/true');
  const start = identify(dead.pid ?? 0)?.start ?? 1;
  await once(dead, 'exit');
  const name = `${pidNamespace()}-${dead.pid}-${start}-00000000-0000-0000-0000-000000000000`;
  const run = `${pidNamespace()}-${dead.pid}-${start}-of-run_1`;
  const other = `not-ours-${process.pid}`;
  const left = spawn('/bin/sleep', ['1000']);
  const leftOfRun = spawn('/bin/sleep', ['1000']);
  const ended = Promise.all([once(left, 'exit'), once(leftOfRun, 'exit')]);
  for (const directory of parents()) {
    mkdirSync(join(directory, name));
    mkdirSync(join(directory, run, name), { recursive: true });
    writeFileSync(join(directory, name, 'cgroup.procs'), String(left.pid));
    writeFileSync(join(directory, run, name, 'cgroup.procs'), String(leftOfRun.pid));
    mkdirSync(join(directory, other), { recursive: true });
  }
  openCgroups();
  expect((await ended).map(([, signal]) => signal)).toEqual(['SIGKILL', 'SIGKILL']);
  openCgroups();
  for (const directory of parents()) {
    expect(readdirSync(directory)).not.toContain(name);
    expect(readdirSync(directory)).not.toContain(run);
    expect(readdirSync(directory)).toContain(other);
  }
  expect(living.tryRemove()).toBe(true);
  for (const directory of parents()) rmdirSync(join(directory, other));
});

test('a limit that is not enforced is not reported', async ({ workspace }) => {
  const driver = openTestDriver(host.stateDir, null);
  const boasting = { ...driver, cgroupLimits: { memory: true, processes: true, cpu: true } };
  const found = await probeCgroupLimits({ driver: boasting, signal: new AbortController().signal }, workspace);
  expect(found).toEqual({ memory: false, processes: false, cpu: false });
  await driver.release();
});

inCgroup('enforced limits are detected, however slow the host is', async ({ workspace }) => {
  const driver = openTestDriver(host.stateDir);
  const slow: typeof driver = {
    ...driver,
    start: (request) =>
      driver.start({ ...request, argv: ['/bin/bash', '-c', 'sleep 6; exec "$@"', 'slow', ...request.argv] }),
  };
  const found = await probeCgroupLimits({ driver: slow, signal: new AbortController().signal }, workspace);
  expect(found).toEqual({ memory: true, processes: true, cpu: true });
  await driver.release();
});

/** CPU seconds of a shell's children, from the output of `times`. */
function childSeconds(text: string): number {
  const [, before = '', , after = ''] = text.split('\n');
  return secondsIn(after) - secondsIn(before);
}

function secondsIn(line: string): number {
  const [user, system] = line.split(' ').map((one) => {
    const [, minutes, seconds] = /^(\d+)m([\d.]+)s$/.exec(one) ?? [];
    return Number(minutes) * 60 + Number(seconds);
  });
  return (user ?? Number.NaN) + (system ?? Number.NaN);
}
