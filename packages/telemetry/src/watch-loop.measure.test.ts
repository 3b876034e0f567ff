import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type LoopDelay, watchLoop } from './watch-loop.ts';

const entry = fileURLToPath(new URL('./watch-loop.ts', import.meta.url));

/**
 * Computes until this thread has used that much processor time. To ask for it is a system call, so both kinds count: the kernel divides the sum
 * between them by its ticks, and one kind may stand still for 100 ms while the other takes all.
 */
function compute(ms: number): void {
  const used = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  const end = used() + ms;
  while (used() < end);
}

test('measures computing as one late and busy delay', async () => {
  const delays: LoopDelay[] = [];
  const watch = watchLoop({ onLate: (delay) => delays.push(delay) });
  await wait(50);
  compute(400);
  await wait(50);
  watch.stop();
  const [delay, ...others] = delays;
  expect(others).toEqual([]);
  // The block began at some moment between two looks, which are 20 ms apart.
  expect(delay?.busy_ms).toBeGreaterThan(370);
  expect(delay?.late_ms).toBeGreaterThanOrEqual(delay?.busy_ms ?? 0);
  expect(watch.worst()).toEqual(delay);
});

test('measures no delay for much work in small pieces', async () => {
  const delays: LoopDelay[] = [];
  const watch = watchLoop({ onLate: (delay) => delays.push(delay), lateMs: 60_000 });
  for (let piece = 0; piece < 60; piece++) {
    compute(10);
    await wait(0);
  }
  watch.stop();
  expect(delays).toEqual([]);
});

test('measures a stopped process as late and not busy', async () => {
  const program = `
    import { watchLoop } from ${JSON.stringify(entry)};
    watchLoop({ onLate: (delay) => process.send(delay), lateMs: 400 });
    setInterval(() => {}, 1000);
    process.send('ready');`;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    await once(child, 'message');
    child.kill('SIGSTOP');
    await wait(600);
    const message = once(child, 'message');
    child.kill('SIGCONT');
    const [delay] = (await message) as [LoopDelay];
    expect(delay.late_ms).toBeGreaterThan(400);
    expect(delay.busy_ms).toBeLessThan(100);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});
