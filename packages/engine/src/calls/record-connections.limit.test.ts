import type { Connection, NewEvent } from '@holdpoint/contract';
import { expect, test, vi } from 'vitest';
import { openConnectionRecorder } from './record-connections.ts';

const connection: Connection = {
  ...{ host: 'a.test', port: 443, verdict: 'refused', reason: 'EHOSTNOTALLOWED' },
  ...{ bytes_up: 1, bytes_down: 2, duration_ms: 3 },
};

function recorder() {
  const events: NewEvent[] = [];
  const append = async ({ events: more }: { events: readonly NewEvent[] }) => void events.push(...more);
  return { events, ...openConnectionRecorder({ stepId: 'step_1', attempt: 2, append }) };
}

const counted = (events: readonly NewEvent[]) =>
  events.flatMap((event) => (event.type === 'network.counted' ? [event.data.counts] : []));

test('a hundred connections have an event each, and 14,744 more are counted', async () => {
  await using open = recorder();
  for (let i = 0; i < 14_844; i++) open.record(connection);
  expect(open.events).toHaveLength(100);
  await open[Symbol.asyncDispose]();
  expect(open.events).toHaveLength(101);
  const { duration_ms, ...place } = connection;
  expect(counted(open.events)).toEqual([[{ ...place, connections: 14_744, bytes_up: 14_744, bytes_down: 2 * 14_744 }]]);
});

test('fifty places are counted one by one, more of them together', async () => {
  await using open = recorder();
  for (let i = 0; i < 1100; i++) open.record({ ...connection, host: `${i % 1000}.test` });
  await open[Symbol.asyncDispose]();
  const counts = counted(open.events)[0] ?? [];
  expect(counts).toHaveLength(51);
  expect(counts.at(-1)).toMatchObject({ host: null, port: null, verdict: 'refused' });
  expect(counts.reduce((sum, { connections }) => sum + connections, 0)).toBe(1000);
});

test('counts are written every half minute while the attempt runs', async () => {
  vi.useFakeTimers();
  try {
    await using open = recorder();
    for (let i = 0; i < 101; i++) open.record(connection);
    vi.advanceTimersByTime(30_000);
    expect(counted(open.events)).toMatchObject([[{ connections: 1 }]]);
    vi.advanceTimersByTime(60_000);
    expect(counted(open.events)).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});
