import { readFileSync } from 'node:fs';
import type { CommandEnd } from '@holdpoint/sandbox/port';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inForm } from './host/form.ts';
import { openScene, type Scene } from './host/scene.ts';
import { users } from './host/users.ts';

const MIB = 1024 * 1024;
const LIMIT = 192 * MIB;
const program = readFileSync(new URL('inside/hold-memory.py', import.meta.url), 'utf8');
const exited = (exit_code: number): CommandEnd => ({ status: 'exited', exit_code, signal: null });

/** Each takes 320 MiB, the last but one 220 MiB. */
const ways = [
  { name: 'files in memory that are open', way: 'open', bounded: true },
  { name: 'files in memory of which one page is mapped', way: 'mapped-page' },
  { name: 'files in memory in flight', way: 'in-flight', bounded: true },
  { name: 'shared pages that are in no page table any more', way: 'forgotten-pages' },
  { name: 'shared memory of which one page is still mapped', way: 'rest-of-mapping', bounded: true },
  { name: 'children that stay within the limit each', way: 'children', bounded: true },
  { name: '/tmp, /dev/shm and private memory together', way: 'everywhere' },
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
      limits: { memory_bytes: LIMIT, wall_ms: 20_000 },
    });

  test.each(inForm(ways))('$name', async ({ way }) => {
    const { end, stderr } = await run(way);
    expect([end, stderr.text]).toEqual([{ status: 'quota', quota: 'memory', limit: LIMIT }, '']);
  });

  test('a segment that no process is attached to', async () => {
    const { end, stdout } = await run('detached-segment');
    if (scene.worker.capabilities.memory === 'enforced') expect(end).toMatchObject({ quota: 'memory', limit: LIMIT });
    else expect([end, stdout.text]).toEqual([exited(3), 'refused ENOSPC\n']);
  });

  test('pages that processes share count once', async () => {
    expect((await run('inherited')).end).toEqual(exited(0));
  });
});
