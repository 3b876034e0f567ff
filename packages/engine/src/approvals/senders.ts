import type { Redis } from 'ioredis';
import type { RunState } from '../domain/index.ts';
import { fromStored, isOfType, readRawLogEntries } from '../log/index.ts';

const sent = isOfType('message\\.received|calls\\.received');

/**
 * Who sent a run what it acts on: its messages, and its calls.
 * @param stepId only who sent this call, beside the messages; without it: who sent any
 */
export async function sendersOf(redis: Redis, run: RunState, stepId?: string): Promise<string[]> {
  if (run.messages === 0 && run.received === 0) return [];
  const names = new Set<string>();
  for await (const { seq, text } of readRawLogEntries(redis, run.id)) {
    if (!sent.test(text)) continue;
    const event = fromStored(run.id, seq, text);
    if (event.type === 'message.received') names.add(event.data.by);
    if (event.type !== 'calls.received') continue;
    if (stepId === undefined || event.data.steps.includes(stepId)) names.add(event.data.by);
  }
  return [...names];
}
