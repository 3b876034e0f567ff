import { readFileSync } from 'node:fs';
import type { CommandEnd } from '@holdpoint/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inForm } from './host/form.ts';
import { openScene, type Scene } from './host/scene.ts';
import { users } from './host/users.ts';

const mib = 1024 * 1024;
const limit = 192 * mib;
const program = readFileSync(new URL('inside/hold-memory.py', import.meta.url), 'utf8');
const exited = (exit_code: number): CommandEnd => ({ status: 'exited', exit_code, signal: null });

/** Each takes at least 320 MiB, except `everywhere`: 220 MiB. */
const ways = [
  { name: 'open files in memory', way: 'open', bounded: true },
  { name: 'files in memory with one mapped page', way: 'mapped-page' },
  { name: 'files in memory in flight', way: 'in-flight', bounded: true },
  { name: 'shared pages that no page table maps any more', way: 'forgotten-pages' },
  { name: 'shared memory with one page still mapped', way: 'rest-of-mapping', bounded: true },
  { name: 'children, each within the limit', way: 'children', bounded: true },
  { name: '/tmp, /dev/shm and private memory together', way: 'everywhere' },
  { name: 'page tables', way: 'page-tables', bounded: true },
  { name: 'names of empty files in memory', way: 'names' },
  { name: 'unread data in sockets', way: 'sockets', bounded: true },
  { name: 'unread data in pipes', way: 'pipes' },
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

  test('unread data in TCP sockets', async () => {
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

  test('shared pages count once', async () => {
    expect((await run('inherited')).end).toEqual(exited(0));
  });
});
