import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  type Cases,
  closedIfRoot,
  exited,
  inForm,
  mib,
  processesIn,
  quota,
  removeTree,
  type Scene,
  useScene,
} from './host/index.ts';

const limit = 64 * mib;
const program = readFileSync(new URL('inside/hold-disk.py', import.meta.url), 'utf8');

/** Each takes 240 MiB. */
const ways: Cases<[name: string, way: string]> = {
  bounded: [
    ['mapped files without a name and without an fd', 'mapped'],
    ['files without a name with one mapped page', 'mapped-page'],
    ['fds in flight', 'in-flight'],
    ['a process whose first thread has ended', 'leader-gone'],
    ['a process that hides its fds from its user', 'undumpable'],
    ['a directory that its owner may not read', 'closed-directory 000'],
  ],
  full: [
    ['fds in flight in a socket that is in flight', 'in-flight-nested'],
    ['a directory that its owner may not enter', 'closed-directory 600'],
  ],
};

const overLimit = quota('workspace', limit);

describe.each(closedIfRoot)('the disk limit, with a worker of $name', (user) => {
  const { scene } = useScene(user, { spares: 0 });

  const run = (workspace: ReturnType<Scene['makeWorkspace']>, way: string) =>
    scene.worker.run(workspace, `exec /usr/bin/python3 -c "$PROGRAM" ${way}`, {
      env: { PROGRAM: program },
      limits: { workspace_bytes: limit, wall_ms: 20_000 },
    });

  test.each(inForm(ways))('%s', async (_, way) => {
    const workspace = scene.makeWorkspace();
    const result = await run(workspace, way);
    expect([result.end, result.stderr.text]).toEqual([overLimit, '']);
    expect(processesIn(workspace.path)).toEqual([]);
    removeTree(workspace.path);
  });

  test.each(['own-table', 'own-table-late'])('a thread cannot have an fd table of its own: %s', async (way) => {
    const workspace = scene.makeWorkspace();
    const result = await run(workspace, way);
    expect([result.end, result.stdout.text]).toEqual([exited(3), 'refused 1\n']);
    removeTree(workspace.path);
  });

  test('files in an unreadable directory count in later commands', async () => {
    const workspace = scene.makeWorkspace();
    expect((await run(workspace, 'closed-directory 000 at-once')).end).toEqual(overLimit);
    const more = await scene.worker.run(workspace, 'head -c 8M /dev/zero > more', {
      limits: { workspace_bytes: limit },
    });
    expect(more.end).toEqual(overLimit);
    removeTree(workspace.path);
  });
});
