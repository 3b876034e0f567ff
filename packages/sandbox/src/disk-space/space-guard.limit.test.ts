import { expect, test } from 'vitest';
import { useTestHost } from '../testing/host.ts';

/** More than any disk has, so every disk counts as too full. */
const minFreeBytes = Number.MAX_SAFE_INTEGER;
const seen: number[] = [];
const { host } = useTestHost({ freeBytes: minFreeBytes, onLowSpace: (free) => seen.push(free) });

test.each([
  ['to a file', 'head -c 32M /dev/zero > fill; sleep 1000'],
  ['to a file that it removes', 'head -c 32M /dev/zero > fill; rm fill; sleep 1000'],
  ['by a child that has ended', '(head -c 32M /dev/zero > fill); sleep 1000'],
])('when disk space is short the writing command is killed: %s', async (_, line) => {
  const { end } = await host.run(host.makeWorkspace(), line);
  expect(end).toEqual({ status: 'quota', quota: 'disk', limit: minFreeBytes });
  expect(seen.length).toBeGreaterThan(0);
});

test('a command that writes almost nothing survives beside a killed one', async () => {
  const writer = host.run(host.makeWorkspace(), 'head -c 32M /dev/zero > fill; sleep 1000');
  const modest = await host.run(host.makeWorkspace(), 'echo x > file; sleep 0.5; cat file');
  expect([modest.end, modest.stdout.text]).toEqual([{ status: 'exited', exit_code: 0, signal: null }, 'x\n']);
  expect((await writer).end).toMatchObject({ quota: 'disk' });
});
