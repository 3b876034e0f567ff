import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identify, pidNamespace } from '@holdpoint/process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openCgroups } from './cgroup/cgroups.ts';
import { locateHierarchies } from './cgroup/locate.ts';
import { makePlaces, type Place } from './cgroup/place.ts';
import { resolveLimits } from './limits.ts';
import { openSandbox } from './open-sandbox.ts';
import type { WorkspaceMount } from './port.ts';
import { probeBounds } from './probe-bounds.ts';
import { openTestDriver, openTestHost, type TestHost, until } from './test-host.ts';

const MIB = 1024 * 1024;

let host: TestHost;
beforeAll(async () => {
  host = await openTestHost();
});
afterAll(() => host[Symbol.asyncDispose]());

const held = openCgroups()?.held;
/** Skipped, with the reason in its name, where this host lets us make no control groups. */
const bounded = (name: string, body: () => Promise<void>) =>
  test.runIf(held?.memory && held.processes && held.cpu)(
    held ? name : `${name} (not run: no control group can be made here; that takes root, or a delegated one)`,
    body,
  );

const places = (): Place[] =>
  makePlaces(
    locateHierarchies(readFileSync('/proc/self/mountinfo', 'utf8'), readFileSync('/proc/self/cgroup', 'utf8')),
  );
const ownGroups = () =>
  places().flatMap(({ directory }) => readdirSync(directory).filter((name) => name.includes(`-${process.pid}-`)));

bounded('memory of all processes together is one bound, and passing it has a name', async () => {
  const workspace = host.makeWorkspace();
  const limits = { memory_bytes: 64 * MIB };
  const quota = { status: 'quota', quota: 'memory', limit: 64 * MIB };
  const hog = await host.run(workspace, `printf -v hog '%*s' ${128 * MIB} ''`, { limits });
  expect(hog.end).toEqual(quota);
  // none of them alone is over it
  const herd = 'for i in 1 2 3 4; do (printf -v hog "%*s" 30000000 ""; sleep 1000) & done; wait';
  expect((await host.run(workspace, herd, { limits })).end).toEqual(quota);
  // a shell that goes on after its child was killed does not hide it
  const hidden = await host.run(workspace, `(printf -v hog '%*s' ${128 * MIB} ''); exit 0`, { limits });
  expect(hidden.end).toEqual(quota);
  const shared = await host.run(workspace, 'head -c 100M /dev/zero > /tmp/fill', {
    limits: { memory_bytes: 32 * MIB },
  });
  expect(shared.end).toMatchObject({ status: 'quota', quota: 'memory' });
});

bounded('neither address space nor what files keep in memory counts as memory', async () => {
  const workspace = host.makeWorkspace();
  const limits = { memory_bytes: 256 * MIB };
  const wasm =
    'node -e "new WebAssembly.Memory({initial: 1, maximum: 65536}); new Array(1e6).fill(1.5); console.log(1)"';
  const reserved = await host.run(workspace, wasm, { limits });
  expect([reserved.stdout.text, reserved.end]).toEqual(['1\n', { status: 'exited', exit_code: 0, signal: null }]);
  const cached = await host.run(workspace, 'head -c 120M /dev/zero > file', { limits: { memory_bytes: 48 * MIB } });
  expect(cached.end).toMatchObject({ status: 'exited', exit_code: 0 });
});

bounded('a fork bomb ends with a name; a program that copes with a refusal is left alone', async () => {
  const workspace = host.makeWorkspace();
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
  const run = (program: string) =>
    host.sandbox.run({
      ...{ workspace, limits, signal: new AbortController().signal },
      argv: ['/usr/bin/python3', '-c', program],
    });
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

bounded('CPU time of all processes together is one bound', async () => {
  const workspace = host.makeWorkspace();
  const line = 'for i in 1 2 3 4; do (while :; do :; done) & done; wait';
  const { end } = await host.run(workspace, line, { limits: { cpu_total_seconds: 1 } });
  expect(end).toEqual({ status: 'quota', quota: 'cpu', limit: 1 });
});

bounded('a run has no larger share of the processors for having more commands', async () => {
  const begin = Math.ceil(Date.now() / 1000) + 2;
  // all of them compute in the same four seconds, and say how long
  const line = `until ((EPOCHSECONDS >= ${begin})); do sleep 0.02; done
    for i in {1..8}; do (while ((EPOCHSECONDS < ${begin + 4})); do :; done) & done; wait; times`;
  const compute = async (workspace: WorkspaceMount) => childSeconds((await host.run(workspace, line)).stdout.text);
  const [greedy, modest] = [host.makeWorkspace(), host.makeWorkspace()];
  const [own, ...others] = await Promise.all([compute(modest), ...Array.from({ length: 5 }, () => compute(greedy))]);
  const theirs = others.reduce((sum, one) => sum + one, 0);
  // Half of all; a sixth where each command has a share of its own.
  expect((own ?? 0) / ((own ?? 0) + theirs)).toBeGreaterThan(0.35);
});

bounded('a command leaves no group behind, however it ends', async () => {
  const workspace = host.makeWorkspace();
  await using second = await openSandbox(host.options);
  const before = ownGroups().length;
  const running = Promise.allSettled([
    second.run({ workspace, argv: ['/bin/true'], signal: new AbortController().signal }),
    second.run({ workspace, argv: ['/bin/sleep', '1000'], signal: AbortSignal.timeout(50) }),
    second.run({
      ...{ workspace, signal: new AbortController().signal, limits: { wall_ms: 300 } },
      argv: ['/bin/bash', '-c', 'touch up; for i in {1..50}; do setsid sleep 1000 & done; wait'],
    }),
    second.run({ workspace, argv: ['/bin/true'], cwd: 'missing', signal: new AbortController().signal }),
  ]);
  await until(() => existsSync(join(workspace.path, 'up')));
  expect(ownGroups().length).toBeGreaterThan(before);
  await running;
  await until(() => ownGroups().length === before);
});

bounded('groups of a worker that is gone are removed, with what runs in them; those of a living one stay', async () => {
  const cgroups = openCgroups() ?? expect.fail();
  const living = cgroups.make(resolveLimits(), 'run_living');
  const dead = spawn('/bin/true');
  const start = identify(dead.pid ?? 0)?.start ?? 1;
  await once(dead, 'exit');
  const name = `${pidNamespace()}-${dead.pid}-${start}-00000000-0000-0000-0000-000000000000`;
  const run = `${pidNamespace()}-${dead.pid}-${start}-of-run_1`;
  const other = `not-ours-${process.pid}`;
  const left = spawn('/bin/sleep', ['1000']);
  const leftOfRun = spawn('/bin/sleep', ['1000']);
  const ended = Promise.all([once(left, 'exit'), once(leftOfRun, 'exit')]);
  for (const { directory } of places()) {
    mkdirSync(join(directory, name));
    mkdirSync(join(directory, run, name), { recursive: true });
    writeFileSync(join(directory, name, 'cgroup.procs'), String(left.pid));
    writeFileSync(join(directory, run, name, 'cgroup.procs'), String(leftOfRun.pid));
    mkdirSync(join(directory, other), { recursive: true });
  }
  openCgroups();
  expect((await ended).map(([, signal]) => signal)).toEqual(['SIGKILL', 'SIGKILL']);
  openCgroups();
  for (const { directory } of places()) {
    expect(readdirSync(directory)).not.toContain(name);
    expect(readdirSync(directory)).not.toContain(run);
    expect(readdirSync(directory)).toContain(other);
  }
  expect(living.tryRemove()).toBe(true);
  for (const { directory } of places()) rmdirSync(join(directory, other));
});

test('a bound that does not strike is not reported', async () => {
  const workspace = host.makeWorkspace();
  const driver = openTestDriver(host.stateDir, null);
  const boasting = { ...driver, held: { memory: true, processes: true, cpu: true } };
  const found = await probeBounds({ driver: boasting, signal: new AbortController().signal }, workspace);
  expect(found).toEqual({ memory: false, processes: false, cpu: false });
  await driver.release();
});

bounded('bounds that hold are seen to strike, however slow the host is', async () => {
  const workspace = host.makeWorkspace();
  const driver = openTestDriver(host.stateDir);
  const slow: typeof driver = {
    ...driver,
    start: (request) =>
      driver.start({ ...request, argv: ['/bin/bash', '-c', 'sleep 6; exec "$@"', 'slow', ...request.argv] }),
  };
  const found = await probeBounds({ driver: slow, signal: new AbortController().signal }, workspace);
  expect(found).toEqual({ memory: true, processes: true, cpu: true });
  await driver.release();
});

/** What `times` of a shell says of its children. */
function childSeconds(text: string): number {
  const [user, system] = (text.trim().split('\n').at(-1) ?? '').split(' ').map((one) => {
    const [, minutes, seconds] = /^(\d+)m([\d.]+)s$/.exec(one) ?? [];
    return Number(minutes) * 60 + Number(seconds);
  });
  return (user ?? Number.NaN) + (system ?? Number.NaN);
}
