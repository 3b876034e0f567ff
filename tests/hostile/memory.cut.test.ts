import { readFileSync } from 'node:fs';
import type { CommandEnd } from '@holdpoint/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inForm } from './host/form.ts';
import { openScene, type Scene } from './host/scene.ts';
import { users } from './host/users.ts';

const mib = 1024 * 1024;
const limit = 192 * mib;
const program = readFileSync(new URL('inside/hold-memory.py', import.meta.url), 'utf8');
const exited = (exit_code: number): CommandEnd => ({ status: 'exited', exit_code, signal: null });

/** Each takes 320 MiB or more, but `everywhere`: 220 MiB. */
const ways = [
  { name: 'files in memory that are open', way: 'open', bounded: true },
  { name: 'files in memory of which one page is mapped', way: 'mapped-page' },
  { name: 'files in memory in flight', way: 'in-flight', bounded: true },
  { name: 'shared pages that are in no page table any more', way: 'forgotten-pages' },
  { name: 'shared memory of which one page is still mapped', way: 'rest-of-mapping', bounded: true },
  { name: 'children that stay within the limit each', way: 'children', bounded: true },
  { name: '/tmp, /dev/shm and private memory together', way: 'everywhere' },
  { name: 'page tables', way: 'page-tables', bounded: true },
  { name: 'names of empty files in memory', way: 'names' },
  { name: 'what was sent through sockets and not received', way: 'sockets', bounded: true },
  { name: 'what was written to pipes and not read', way: 'pipes' },
];

describe.each(users)('the memory limit, with a worker of $name', (user) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene(user);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  const run = (way: string) =>
    scene.worker.run(scene.makeWorkspace(), `exec /usr/bin/python3 -c "$PROGRAM" ${way}`, {
      env: { PROGRAM: program },
      limits: { memory_bytes: limit, wall_ms: 60_000 },
    });

  test.each(inForm(ways))('$name', async ({ way }) => {
    const { end, stderr } = await run(way);
    expect([end, stderr.text]).toEqual([{ status: 'quota', quota: 'memory', limit: limit }, '']);
  });

  test('what was sent through TCP and not received', async () => {
    const { end, stdout } = await run('tcp');
    // Control groups of version 1 slow the sender down.
    if (end.status === 'exited') expect(Number(stdout.text)).toBeLessThan(limit + 64 * mib);
    else expect(end).toEqual({ status: 'quota', quota: 'memory', limit: limit });
  });

  test.each([
    ['a segment that no process is attached to', 'detached-segment'],
    ['messages in queues', 'messages'],
  ])('%s', async (_, way) => {
    const { end, stdout } = await run(way);
    if (scene.worker.capabilities.memory === 'enforced') expect(end).toMatchObject({ quota: 'memory', limit: limit });
    else expect([end, stdout.text]).toEqual([exited(3), 'refused ENOSPC\n']);
  });

  test('pages that processes share count once', async () => {
    expect((await run('inherited')).end).toEqual(exited(0));
  });
});
