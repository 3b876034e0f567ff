import type { RunEvent } from '@holdpoint/contract';
import { changesOf } from './changes.ts';

/** The state hash that a log stands for: its fields and their values. */
export function fold(events: Iterable<RunEvent>): Record<string, string> {
  const state: Record<string, string> = {};
  for (const event of events) {
    const { set, add } = changesOf(event);
    Object.assign(state, set);
    for (const [field, by] of Object.entries(add)) state[field] = String(Number(state[field] ?? '0') + by);
  }
  return state;
}
