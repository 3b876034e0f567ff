import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Cases, closedIfRoot, exited, inForm, mib, quota, useScene } from './host/index.ts';

const limit = 192 * mib;
const program = readFileSync(new URL('inside/hold-memory.py', import.meta.url), 'utf8');

/** Each takes at least 320 MiB, except `everywhere`: 220 MiB. */
const ways: Cases<[name: string, way: string]> = {
  bounded: [
    ['open files in memory', 'open'],
    ['files in memory in flight', 'in-flight'],
    ['shared memory with one page still mapped', 'rest-of-mapping'],
    ['children, each within the limit', 'children'],
    ['page tables', 'page-tables'],
    ['unread data in sockets', 'sockets'],
  ],
  full: [
    ['files in memory with one mapped page', 'mapped-page'],
    ['shared pages that no page table maps any more', 'forgotten-pages'],
    ['/tmp, /dev/shm and private memory together', 'everywhere'],
    ['names of empty files in memory', 'names'],
    ['unread data in pipes', 'pipes'],
  ],
};

describe.each(closedIfRoot)('the memory limit, with a worker of $name', (user) => {
  const { scene } = useScene(user);

  const run = (way: string) =>
    scene.worker.run(scene.makeWorkspace(), `exec /usr/bin/python3 -c "$PROGRAM" ${way}`, {
      env: { PROGRAM: program },
      limits: { memory_bytes: limit, wall_ms: 60_000 },
    });

  test.each(inForm(ways))('%s', async (_, way) => {
    const { end, stderr } = await run(way);
    expect([end, stderr.text]).toEqual([quota('memory', limit), '']);
  });

  test('unread data in TCP sockets', async () => {
    const { end, stdout } = await run('tcp');
    // Control groups of version 1 slow the sender down.
    if (end.status === 'exited') expect(Number(stdout.text)).toBeLessThan(limit + 64 * mib);
    else expect(end).toEqual(quota('memory', limit));
  });

  test.each([
    ['a segment that no process is attached to', 'detached-segment'],
    ['messages in queues', 'messages'],
  ])('%s', async (_, way) => {
    const { end, stdout } = await run(way);
    if (scene.worker.capabilities.memory === 'enforced') expect(end).toMatchObject({ quota: 'memory', limit: limit });
    else expect([end, stdout.text]).toEqual([exited(3), 'refused ENOSPC\n']);
  });

  test('shared pages count once', async () => expect((await run('inherited')).end).toEqual(exited(0)));
});
