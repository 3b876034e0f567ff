import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'vitest';
import { SandboxError } from './errors.ts';
import { until, useTestHost } from './testing/host.ts';
import type { WorkspaceMount } from './tree.ts';

const { host, test } = useTestHost();
const content = 'module.exports = 1;\n';

/** A workspace that sees a folder of a source, as it was judged now. */
function withFolder(workspace: WorkspaceMount, path: string): { mount: WorkspaceMount; source: string } {
  const source = join(host.directory, `source-of-${workspace.id}`);
  mkdirSync(join(source, path), { recursive: true });
  writeFileSync(join(source, path, 'index.js'), content);
  mkdirSync(join(workspace.path, path), { recursive: true });
  for (let at = path; at !== '.'; at = join(at, '..'))
    chownSync(join(workspace.path, at), workspace.uid, workspace.gid);
  const { dev, ino, birthtimeNs } = statSync(join(source, path), { bigint: true });
  const folder = { path, host: join(source, path), identity: [dev, ino, birthtimeNs].join() };
  return { mount: { ...workspace, sourceFolders: [folder] }, source };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it was moved
  }
}

/** What a command sees; the error when it does not begin. */
const seen = (mount: WorkspaceMount, line: string): Promise<string> =>
  host.run(mount, line).then(
    ({ stdout }) => stdout.text,
    (error: unknown) => (error instanceof SandboxError ? error.message : Promise.reject(error)),
  );

test('a background command begins when another action froze its workspace in the middle of its set-up', {
  timeout: 120_000,
}, async ({ workspace }) => {
  const { mount } = withFolder(workspace, 'packages/a/node_modules');
  const records = join(host.stateDir, workspace.id);
  /** The record gets a second process when the sandbox has its first one. */
  const isHalfStarted = () =>
    existsSync(records) &&
    readdirSync(records).some((name) => /^\d+-\d+\.json$/.test(name) && /\},\{/.test(readText(join(records, name))));
  for (let round = 0; round < 20; round++) {
    const signal = AbortSignal.timeout(20_000);
    const background = host.run(mount, 'until [ -e go ]; do sleep 0.01; done', { label: 'task_1', signal });
    for (; !isHalfStarted(); await nextTurn());
    await host.sandbox.withFrozen(workspace.id, async () => {});
    writeFileSync(join(workspace.path, 'go'), '');
    expect((await background).end).toEqual({ status: 'exited', exit_code: 0, signal: null });
    rmSync(join(workspace.path, 'go'));
  }
});

test('a source that exchanges its folder for a link shows no other one', { timeout: 120_000 }, async ({
  workspace,
}) => {
  const { mount, source } = withFolder(workspace, 'node_modules');
  const secret = join(host.directory, 'secret');
  mkdirSync(secret);
  writeFileSync(join(secret, 'index.js'), 'secret\n');
  const exchange = `
    const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
    const [at, secret] = process.argv.slice(1);
    for (;;) {
      renameSync(at, at + '-away');
      symlinkSync(secret, at);
      for (const end = performance.now() + 3; performance.now() < end; );
      unlinkSync(at);
      renameSync(at + '-away', at);
      for (const end = performance.now() + 3; performance.now() < end; );
    }`;
  const swapping = spawn(process.execPath, ['-e', exchange, join(source, 'node_modules'), secret]);
  try {
    const all = new Set<string>();
    for (let round = 0; round < 40; round++) {
      all.add(await seen(mount, 'cat node_modules/index.js'));
      const read = await host.sandbox
        .files(mount)
        .read('node_modules/index.js')
        .catch((error) => error.code);
      all.add(typeof read === 'string' ? read : read.data.toString());
    }
    const refused = (one: string) => one === 'ESANDBOXSETUP' || one.startsWith('The sandbox could not be set up');
    expect([...all].filter((one) => one !== content && !refused(one))).toEqual([]);
  } finally {
    swapping.kill('SIGKILL');
    await once(swapping, 'close');
  }
});

test('a background command that exchanges a folder above leads no mount astray', { timeout: 120_000 }, async ({
  workspace,
}) => {
  const { mount } = withFolder(workspace, 'packages/a/node_modules');
  const outside = join(host.directory, 'outside');
  mkdirSync(outside);
  chmodSync(outside, 0o777);
  // bubblewrap has the host's files there while it works.
  const line = `touch began; cd packages; while :; do mv a b; ln -s "/oldroot${outside}" a; sleep 0.004; rm a; mv b a; sleep 0.004; done`;
  const ending = new AbortController();
  const task = host.sandbox.run({
    ...{ workspace: mount, label: 'task_swap', argv: ['/bin/bash', '-c', line] },
    signal: ending.signal,
  });
  await until(() => readdirSync(workspace.path).includes('began'));
  // Whether a set-up meets the folder or the link is chance. None that begins may find it exchanged, so a background command stands still.
  const met: string[] = [];
  while (met.filter((one) => !one.includes('has no place')).length < 30) {
    met.push(await seen(mount, 'cat /workspace/packages/[ab]/node_modules/index.js 2>/dev/null'));
  }
  ending.abort(new Error('done'));
  expect((await task).end).toMatchObject({ status: 'killed' });
  expect(met.filter((one) => one.includes('exchanged'))).toEqual([]);
  expect(readdirSync(outside)).toEqual([]);
});
