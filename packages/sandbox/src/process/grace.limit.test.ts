import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startGrace } from './grace.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** The milliseconds until the end of a grace, with processes that wait for a processor for a share of the time. */
async function lengthOf(shares: Record<number, number>): Promise<number> {
  const began = Date.now();
  const earlier = 5000;
  const waitOf = (pid: number) => earlier + (Date.now() - began) * (shares[pid] ?? 0);
  const ended = vi.fn();
  startGrace({ processes: () => Object.keys(shares).map(Number), waitOf, now: Date.now }, ended);
  for (let ms = 0; ms < 2000 && ended.mock.calls.length === 0; ms++) await vi.advanceTimersByTimeAsync(1);
  expect(ended).toHaveBeenCalledTimes(1);
  return Date.now() - began;
}

test.each([
  ['no process waits for a processor', {}, 150],
  ['processes run or sleep', { 1: 0, 2: 0 }, 150],
  ['one of them waits half of the time', { 1: 0, 2: 0.5 }, 300],
  ['one waits nearly all of the time', { 1: 0.99 }, 1000],
] as const)('when %s, the grace ends in time', async (_, shares, ms) => {
  const length = await lengthOf(shares);
  expect(length).toBeGreaterThanOrEqual(ms - 1);
  expect(length).toBeLessThanOrEqual(ms + 5);
});

test('a process that begins after the signal counts from its beginning, and a stopped grace ends nothing', async () => {
  const began = Date.now();
  const pids: number[] = [];
  const ended = vi.fn();
  const waitOf = () => Math.min(80, Date.now() - began);
  startGrace({ processes: () => pids, waitOf, now: Date.now }, ended);
  const stopped = vi.fn();
  startGrace({ processes: () => pids, waitOf, now: Date.now }, stopped)();
  pids.push(7);
  await vi.advanceTimersByTimeAsync(229);
  expect(ended).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(5);
  expect(ended).toHaveBeenCalledTimes(1);
  expect(stopped).not.toHaveBeenCalled();
});

test.runIf(process.platform === 'linux')('the kernel counts the wait of a real process', async () => {
  vi.useRealTimers();
  // Each has less than one processor, whatever the machine.
  const busy = Array.from({ length: 2 * navigator.hardwareConcurrency + 2 }, () =>
    spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' }),
  );
  try {
    await Promise.all(busy.map((child) => once(child, 'spawn')));
    const began = performance.now();
    await new Promise<void>((resolve) => {
      startGrace({ processes: () => busy.map(({ pid = 0 }) => pid), now: () => performance.now() }, resolve);
    });
    expect(performance.now() - began).toBeGreaterThan(170);
  } finally {
    for (const child of busy) child.kill('SIGKILL');
  }
});
