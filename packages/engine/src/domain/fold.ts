import type { RunEvent } from '@holdpoint/contract';
import { changesOf } from './changes/changes-of.ts';

/** The state hash that a log stands for: its fields and their values. */
export function fold(events: Iterable<RunEvent>): Record<string, string> {
  const { values, increments } = changesOf(events);
  const counts = Object.entries(increments).map(([field, by]) => [field, String(by)]);
  return { ...values, ...Object.fromEntries(counts) };
}
