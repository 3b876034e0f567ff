import { afterEach, expect, test, vi } from 'vitest';
import { openTextThreads, type TextThreadLimits, type TextThreads } from './open-text-threads.ts';

const opened: TextThreads[] = [];
afterEach(() => Promise.all(opened.splice(0).map((threads) => threads.close())));

function open(limits: TextThreadLimits): TextThreads {
  const threads = openTextThreads(limits);
  opened.push(threads);
  return threads;
}

const never = new AbortController().signal;

/** Cheap: 2 MB are read once. */
const light = () => ({ data: Buffer.alloc(2_000_000, 'a\n'), offset: 1, limit: 1 });
/** A fifth of a second of computing. */
const heavy = () => {
  const lines = (mark: string) => Array.from({ length: 45_000 }, (_, index) => `${mark}${index}\n`).join('');
  return { path: 'f', before: Buffer.from(lines('a')), after: lines('b'), diffBytes: 1000 };
};

test('a task fails at its deadline, and the next one gets a thread', async () => {
  // Each task takes longer, on any machine.
  const threads = open({ deadlineMs: 5 });
  const text = threads.of('run_1', never);
  await expect(text.run('diff', heavy())).rejects.toMatchObject({ name: 'TextWorkError', code: 'ETEXTTIME' });
  const body = Buffer.from(`${'<div>'.repeat(80_000)}${'</x>'.repeat(1_250_000)}`);
  const page = { body, contentType: 'text/html', url: 'http://localhost/', format: 'markdown' as const };
  await expect(text.run('page', page)).rejects.toMatchObject({ code: 'ETEXTTIME' });
  const patient = open({});
  expect(await patient.of('run_1', never).run('excerpt', light())).toMatchObject({
    past: false,
    total_lines: 1_000_000,
  });
});

test('the start of a thread does not count', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const task = open({ deadlineMs: 1000 }).of('run_1', never).run('excerpt', light());
    // No message of the thread has arrived yet.
    vi.advanceTimersByTime(30_000);
    expect(await task).toMatchObject({ past: false });
  } finally {
    vi.useRealTimers();
  }
});

test('a running and a waiting task end with their call', async () => {
  const threads = open({ threads: 2 });
  const call = new AbortController();
  const text = threads.of('run_1', call.signal);
  const running = text.run('diff', heavy());
  const waiting = text.run('diff', heavy());
  call.abort(new Error('canceled'));
  await expect(running).rejects.toThrow('canceled');
  await expect(waiting).rejects.toThrow('canceled');
  await expect(text.run('excerpt', light())).rejects.toThrow('canceled');
  expect(await threads.of('run_1', never).run('excerpt', light())).toMatchObject({ past: false });
});

test('a run with many tasks leaves a thread to other runs', async () => {
  const threads = open({ threads: 2 });
  const call = new AbortController();
  const greedy = Array.from({ length: 5 }, () => threads.of('run_greedy', call.signal).run('diff', heavy()));
  let done = 0;
  for (const one of greedy)
    one.then(
      () => done++,
      () => {},
    );
  expect(await threads.of('run_small', never).run('excerpt', light())).toMatchObject({ past: false });
  // In the order in which they came, four of them would have been before it.
  expect(done).toBeLessThan(2);
  call.abort(new Error('enough'));
  const ended = await Promise.allSettled(greedy);
  expect(ended.at(-1)?.status).toBe('rejected');
});

test('a task that takes too much memory fails, and the process lives', async () => {
  const threads = open({ heapMb: 16 });
  const body = Buffer.from('<p>word'.repeat(95_000));
  const page = { body, contentType: 'text/html', url: 'http://localhost/', format: 'text' as const };
  await expect(threads.of('run_1', never).run('page', page)).rejects.toMatchObject({ code: 'ETEXTMEMORY' });
  expect(await threads.of('run_1', never).run('excerpt', light())).toMatchObject({ past: false });
});
