import { eventSchema, type RunEvent } from '@holdpoint/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { submitRun } from '../commands/submit-run.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { logKey } from './keys.ts';
import { readLog } from './read-log.ts';
import { fromStored, isOfType, toStored } from './stored-event.ts';

const engine = useTestEngine();
const runId = 'run_01a205ab-22bb-747a-b78d-2cfa380a8d4c';
const step_id = 'step_01a205ab-22dd-77a2-90ac-de533eadb986';
const eventId = /^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const started = (time: string): RunEvent =>
  eventSchema.parse({ id: '', type: 'step.started', run_id: runId, time, step_id, data: { attempt: 1, worker: 'w' } });

test.each([
  '2026-11-22T23:50:31.405Z',
  '2026-11-22T23:50:31Z',
  '2026-11-22T23:50:31.405123Z',
  '1969-12-31T23:59:59.000Z',
])('an event of %s is read as it was appended, with the same id in every process', (time) => {
  const event = started(time);
  const text = toStored(event);
  const read = fromStored(runId, 7, text);
  expect(read).toEqual({ ...event, id: expect.stringMatching(eventId), seq: 7 });
  expect(JSON.stringify({ ...read, id: '' })).toBe(JSON.stringify({ ...event, seq: 7 }));
  expect(fromStored(runId, 7, text)).toEqual(read);
  expect(fromStored(runId, 8, text).id).not.toBe(read.id);
  expect(text).not.toContain(runId);
});

test('an event that an earlier version stored whole keeps its id', () => {
  const event = { ...started('2026-11-22T23:50:31.405Z'), id: 'evt_01a205ab-22ed-7203-8b31-9a56650efdea' };
  expect(fromStored(runId, 3, JSON.stringify(event))).toEqual({ ...event, seq: 3 });
  expect(isOfType('step\\.started').test(JSON.stringify(event))).toBe(true);
  expect(isOfType('step\\.started').test(toStored(event))).toBe(true);
  expect(isOfType('step\\.created').test(toStored(event))).toBe(false);
});

test('a text that has control characters, or what stands for them, is read as it was', () => {
  const worker = '\u0001\u001f\u0000\u007f\u0085 "enforced" \\u0001 "epoch":"skipped": é 🙂';
  const event = { ...started('2026-11-22T23:50:31.405Z'), data: { attempt: 1, worker, epoch: 3 } } as RunEvent;
  expect(fromStored(runId, 7, toStored(event))).toEqual({ ...event, id: expect.any(String), seq: 7 });
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom('"epoch":', '\u0001', '{"reason":"', '\\', '"'), fc.string())),
      (parts) => {
        const said: RunEvent = { ...event, data: { attempt: 1, worker: parts.join('') } } as RunEvent;
        expect(fromStored(runId, 7, toStored(said))).toEqual({ ...said, id: expect.any(String), seq: 7 });
      },
    ),
  );
});

test('what is no event is refused', () => {
  for (const text of [
    '',
    '{}',
    '[]',
    '["step.started"]',
    '["step.started",1,{},"x"]',
    '["run.started","soon",{}]',
    'null',
  ]) {
    expect(() => fromStored(runId, 1, text), text).toThrow();
  }
});

test('a log that has both forms is one log', async () => {
  const { deps } = inMemoryWorker(engine);
  const { runId: id } = await submitRun(deps, { spec: specOf([[{ args: { effect: 'read' } }]]), by: 'test' });
  await deliverAll(deps);
  const events = await readLog(deps.redis, id);
  await deps.redis.del(logKey(id));
  for (const { seq, ...event } of events) {
    await deps.redis.xadd(logKey(id), `${seq}-0`, 'e', seq % 2 === 0 ? JSON.stringify(event) : toStored(event));
  }
  const read = await readLog(deps.redis, id);
  expect(read.map(({ id: _, ...event }) => event)).toEqual(events.map(({ id: _, ...event }) => event));
  expect(read.filter(({ seq }) => seq % 2 === 0)).toEqual(events.filter(({ seq }) => seq % 2 === 0));
});
