import { readFileSync } from 'node:fs';
import type { CommandEnd } from '@holdpoint/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inForm } from './host/form.ts';
import { processesIn } from './host/process-table.ts';
import { removeTree } from './host/remove-tree.ts';
import { openScene, type Scene } from './host/scene.ts';
import { users } from './host/users.ts';

const mib = 1024 * 1024;
const limit = 64 * mib;
const program = readFileSync(new URL('inside/hold-disk.py', import.meta.url), 'utf8');

interface Way {
  name: string;
  way: string;
  bounded?: boolean;
}

/** Each takes 240 MiB. */
const ways: Way[] = [
  { name: 'mapped files without a name and without an fd', way: 'mapped', bounded: true },
  { name: 'files without a name with one mapped page', way: 'mapped-page', bounded: true },
  { name: 'fds in flight', way: 'in-flight', bounded: true },
  { name: 'fds in flight in a socket that is in flight', way: 'in-flight-nested' },
  { name: 'a process whose first thread has ended', way: 'leader-gone', bounded: true },
  { name: 'a process that hides its fds from its user', way: 'undumpable', bounded: true },
  { name: 'a directory that its owner may not read', way: 'closed-directory 000', bounded: true },
  { name: 'a directory that its owner may not enter', way: 'closed-directory 600' },
];

const quota: CommandEnd = { status: 'quota', quota: 'workspace', limit: limit };

describe.each(users)('the disk limit, with a worker of $name', (user) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene(user);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  const run = (workspace: ReturnType<Scene['makeWorkspace']>, way: string) =>
    scene.worker.run(workspace, `exec /usr/bin/python3 -c "$PROGRAM" ${way}`, {
      env: { PROGRAM: program },
      limits: { workspace_bytes: limit, wall_ms: 20_000 },
    });

  test.each(inForm(ways))('$name', async ({ way }) => {
    const workspace = scene.makeWorkspace();
    const result = await run(workspace, way);
    expect([result.end, result.stderr.text]).toEqual([quota, '']);
    expect(processesIn(workspace.path)).toEqual([]);
    removeTree(workspace.path);
  });

  test.each(['own-table', 'own-table-late'])('a thread cannot have an fd table of its own: %s', async (way) => {
    const workspace = scene.makeWorkspace();
    const result = await run(workspace, way);
    expect([result.end, result.stdout.text]).toEqual([{ status: 'exited', exit_code: 3, signal: null }, 'refused 1\n']);
    removeTree(workspace.path);
  });

  test('files in an unreadable directory count in later commands', async () => {
    const workspace = scene.makeWorkspace();
    expect((await run(workspace, 'closed-directory 000 at-once')).end).toEqual(quota);
    const more = await scene.worker.run(workspace, 'head -c 8M /dev/zero > more', {
      limits: { workspace_bytes: limit },
    });
    expect(more.end).toEqual(quota);
    removeTree(workspace.path);
  });
});
