import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { bootId, identify } from '@holdpoint/process';
import { expect } from 'vitest';
import { findHostTools } from './bubblewrap/host-tools.ts';
import { bwrapArguments, findOrphans } from './bubblewrap/profile.ts';
import { openSandbox } from './open-sandbox.ts';
import { bwrapCandidates, processesWith, rejects, runLine, until, useTestHost } from './testing/host.ts';

const { host, test } = useTestHost();

/** Leaves background processes of every kind: sessions, ignored signals, double forks, with open or closed pipes. */
function litter(word: string): string {
  const sleep = `sleep 3${word}`;
  return `
    setsid ${sleep} &
    nohup ${sleep} >/dev/null 2>&1 &
    (trap '' TERM INT HUP; ${sleep}) &
    ( ( ${sleep} & ) & )
    (exec >&- 2>&- <&-; setsid ${sleep} &) &
    until [ "$(pgrep -c -f '^sleep 3${word}$')" -ge 5 ]; do sleep 0.05; done
    touch littered
  `;
}

/** True for a process that has ended, too. */
function isBubblewrapOrGone(pid: number): boolean {
  try {
    return /^(?:[^\0]*\/)?bwrap\0|^$/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
  } catch {
    return true;
  }
}
const littered = (path: string) => existsSync(join(path, 'littered'));

test('no process survives a normal end', async ({ workspace, word }) => {
  const { end } = await host.run(workspace, `${litter(word)} exit 7`);
  expect(processesWith(word)).toEqual([]);
  expect(littered(workspace.path)).toBe(true);
  expect(end).toEqual({ status: 'exited', exit_code: 7, signal: null });
});

test('300 background processes with closed streams end with the command', async ({ workspace, word }) => {
  await host.run(workspace, `for i in {1..300}; do setsid sleep 3${word} <&- >&- 2>&- & done; touch littered`);
  expect(processesWith(word)).toEqual([]);
  expect(littered(workspace.path)).toBe(true);
});

test('no process survives a time-out', async ({ workspace, word }) => {
  const { end } = await host.run(workspace, `${litter(word)} wait`, { limits: { wall_ms: 5000 } });
  expect(processesWith(word)).toEqual([]);
  expect(littered(workspace.path)).toBe(true);
  expect(end).toEqual({ status: 'timed_out', after_ms: 5000 });
});

test('no process survives an abort', async ({ workspace, word }) => {
  const controller = new AbortController();
  const running = host.run(workspace, `${litter(word)} wait`, { signal: controller.signal });
  await until(() => littered(workspace.path));
  expect(processesWith(word).length).toBeGreaterThanOrEqual(5);
  controller.abort(new Error('cancelled by the user'));
  expect((await running).end).toEqual({ status: 'killed', reason: 'cancelled by the user' });
  expect(processesWith(word)).toEqual([]);
  expect(existsSync(join(host.stateDir, workspace.id))).toBe(false);
});

test('a stopped command may clean up, and none of its processes survives', async ({ workspace, word }) => {
  const controller = new AbortController();
  const line = `trap 'echo cleaned > cleaned; exit 3' TERM; ${litter(word)} wait`;
  const running = host.run(workspace, line, { stop: controller.signal });
  await until(() => littered(workspace.path));
  controller.abort(new Error('cancelled by the user'));
  expect((await running).end).toEqual({ status: 'killed', reason: 'cancelled by the user' });
  expect(existsSync(join(workspace.path, 'cleaned'))).toBe(true);
  expect(processesWith(word)).toEqual([]);
  expect(existsSync(join(host.stateDir, workspace.id))).toBe(false);
});

test('a command that ignores the stop is killed', async ({ workspace, word }) => {
  const controller = new AbortController();
  const running = host.run(workspace, `trap '' TERM; ${litter(word)} while :; do sleep 3${word}; done`, {
    stop: controller.signal,
  });
  await until(() => littered(workspace.path));
  controller.abort(new Error('cancelled by the user'));
  expect((await running).end).toEqual({ status: 'killed', reason: 'cancelled by the user' });
  expect(processesWith(word)).toEqual([]);
});

test('an abort at any moment of the set-up leaves no process and runs no command', async ({ workspace, word }) => {
  const ends = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const controller = new AbortController();
      const how = index % 2 === 0 ? { signal: controller.signal } : { stop: controller.signal };
      const running = host.run(workspace, `sleep 3${word}`, how);
      setTimeout(() => controller.abort(new Error('early')), index);
      return (await running).end;
    }),
  );
  expect(processesWith(word)).toEqual([]);
  for (const end of ends) expect(end).toEqual({ status: 'killed', reason: 'early' });
});

test('an aborted signal starts no process', async ({ workspace }) => {
  const { end } = await host.run(workspace, 'touch ran', { signal: AbortSignal.abort(new Error('too late')) });
  expect(end).toEqual({ status: 'killed', reason: 'too late' });
  expect(existsSync(join(workspace.path, 'ran'))).toBe(false);
});

test('commands and tool hosts die with a worker killed by SIGKILL', async ({ workspace, word }) => {
  const owner = spawn(process.execPath, [
    fileURLToPath(new URL('testing/owner-process.ts', import.meta.url)),
    ...[join(host.directory, 'owner-state'), bwrapCandidates[0] ?? '', String(workspace.uid), workspace.path],
    ...[`${litter(word)} wait`, '8'],
  ]);
  const exited = new Promise((resolve) => owner.once('exit', resolve));
  await until(() => littered(workspace.path));
  owner.kill('SIGKILL');
  await exited;
  // All commands end by themselves. A bubblewrap killed between its namespaces and its first step may stay.
  await until(() => processesWith(word).every(isBubblewrapOrGone));
  // The next killAll on this host removes it, for any workspace. The other sandbox has separate records, so it kills nothing else.
  await host.sandbox.killAll('run_unrelated');
  expect(processesWith(word)).toEqual([]);
});

test('killAll ends one workspace in all workers and spares other workspaces', async ({ workspace, word }) => {
  await using second = await openSandbox(host.options);
  const start = (sandbox: typeof second, workspaceId: string) =>
    runLine(sandbox, { ...workspace, id: workspaceId }, `touch up-$BASHPID-$RANDOM; sleep 3${word}`);
  writeFileSync(join(workspace.path, 'there'), '');
  const mine = start(host.sandbox, workspace.id);
  const theirs = start(second, workspace.id);
  const others = start(second, 'run_other');
  await second.files(workspace).stat('there');
  await until(() => readdirSync(workspace.path).filter((name) => name.startsWith('up-')).length === 3);
  await host.sandbox.killAll(workspace.id);
  expect(processesWith(`sleep\x003${word}`)).toHaveLength(1);
  const killed = { status: 'killed', reason: 'every process of the workspace was killed', taken_over: true };
  expect((await mine).end).toEqual(killed);
  expect((await theirs).end).toEqual(killed);
  expect(await second.files(workspace).stat('there')).toMatchObject({ type: 'file' });
  await host.sandbox.killAll('run_other');
  expect(processesWith(word)).toEqual([]);
  expect((await others).end).toEqual(killed);
  await host.sandbox.killAll('run_that_never_was');
});

test('killAll ignores records of recycled pids, other boots and invalid records', async () => {
  const bystander = spawn('/bin/sleep', ['1000']);
  await new Promise((resolve) => bystander.once('spawn', resolve));
  const records = join(host.stateDir, 'run_stale');
  mkdirSync(records, { recursive: true });
  const boot = bootId();
  writeFileSync(
    join(records, `${bystander.pid}-1.json`),
    JSON.stringify({ boot, processes: [{ pid: bystander.pid, start: 1 }] }),
  );
  writeFileSync(
    join(records, '2-2.json'),
    JSON.stringify({ boot: 'another', processes: [{ pid: bystander.pid, start: 1 }] }),
  );
  writeFileSync(join(records, '3-3.json'), '{"boot":');
  await host.sandbox.killAll('run_stale');
  expect(identify(bystander.pid ?? 0)).not.toBeNull();
  expect(existsSync(records)).toBe(false);
  bystander.kill('SIGKILL');
});

const stages = {
  'with all its namespaces': ['--unshare-user', '--unshare-all'],
  'before its options arrived': ['--unshare-user'],
};
const { bwrap } = findHostTools({ bwrapCandidates, path: '/usr/local/bin:/usr/bin:/bin' });
const named = Object.entries(stages).flatMap(([stage, namespaces]) =>
  ['bwrap', bwrap].map((argv0) => ({ stage, namespaces, argv0, called: argv0 === bwrap ? 'its path' : 'its name' })),
);
for (const { stage, namespaces, argv0, called } of named) {
  test(`killAll removes a sandbox whose bubblewrap, called by ${called}, was killed ${stage}`, async () => {
    const stdio = ['ignore', 'ignore', 'ignore', 'pipe', 'pipe', 'pipe'] as const;
    const child = spawn(bwrap, bwrapArguments, { argv0, stdio: [...stdio] });
    const [, , , options, , info] = child.stdio as (Duplex | null)[];
    options?.end([...namespaces, '--userns-block-fd', '4', '--info-fd', '5', ''].join('\0'));
    const [line] = await once(info ?? expect.fail(), 'data');
    const waiting = Number(/"child-pid": (\d+)/.exec(String(line))?.[1]);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(identify(waiting)).not.toBeNull();
    const pidsOf = (uid: number) => findOrphans(uid).map(({ pid }) => pid);
    expect(pidsOf(process.getuid?.() ?? 0)).toContain(waiting);
    // A worker of another user may not end it.
    expect(pidsOf(54_321)).not.toContain(waiting);
    await host.sandbox.killAll('run_unrelated');
    expect(identify(waiting)).toBeNull();
  });
}

test('closing the sandbox ends its commands', async ({ workspace, word }) => {
  const second = await openSandbox(host.options);
  const running = runLine(second, workspace, `touch up; sleep 3${word}`);
  await second.files(workspace).list('.');
  await until(() => existsSync(join(workspace.path, 'up')));
  await second[Symbol.asyncDispose]();
  expect(processesWith(word)).toEqual([]);
  expect((await running).end).toEqual({ status: 'killed', reason: 'the sandbox was closed' });
  await rejects(second.run({ workspace, argv: ['/bin/true'], signal: new AbortController().signal }), 'ESANDBOXCLOSED');
});
