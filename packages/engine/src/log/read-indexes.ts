import type { Redis } from 'ioredis';
import { rewindsField, snapshotIndex } from '../domain/fields/run.ts';
import { readFields } from './read-state.ts';

/** An event with a state of the run's files. */
export interface SnapshotPlace {
  seq: number;
  /** The first digits of the id of the snapshot. */
  digits: string;
}

interface Range {
  /** The first and the last number, both included. */
  from: number;
  to: number;
  order: 'asc' | 'desc';
}

const partsAtOnce = 50;

/**
 * The entries of several indexes together, for a range of numbers and in its order, in batches. Reads only the fields of the indexes: each
 * field covers as many numbers as the index is wide.
 */
async function* entriesOf(
  redis: Redis,
  runId: string,
  indexes: readonly { name: string; width: number }[],
  { from, to, order }: Range,
): AsyncGenerator<{ number: number; text: string }[]> {
  const [some] = indexes;
  if (some === undefined) return;
  const { width } = some;
  const [first, last] = [Math.floor(Math.max(from, 0) / width), Math.floor(to / width)];
  const parts = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) =>
    order === 'asc' ? first + at : last - at,
  );
  for (let at = 0; at < parts.length; at += partsAtOnce) {
    const batch = parts.slice(at, at + partsAtOnce);
    const rows = await readFields(
      redis,
      runId,
      batch.flatMap((part) => indexes.map(({ name }) => `${name}${part}`)),
    );
    const found = batch.flatMap((part) => {
      const entries = indexes.flatMap(({ name }) => (rows[`${name}${part}`] ?? '').split(' ').slice(1));
      const numbered = entries.map((text) => ({
        text,
        number: part * width + Number(text.slice(text.indexOf(':') + 1)),
      }));
      return numbered.sort((a, b) => (order === 'asc' ? a.number - b.number : b.number - a.number));
    });
    const inRange = found.filter(({ number }) => number >= from && number <= to);
    if (inRange.length > 0) yield inRange;
  }
}

/** The turns present in any of these indexes, each once, in batches. */
export async function* turnsIn(
  redis: Redis,
  runId: string,
  indexes: readonly { name: string; width: number }[],
  range: Range,
): AsyncGenerator<number[]> {
  for await (const entries of entriesOf(redis, runId, indexes, range)) {
    yield [...new Set(entries.map(({ number }) => number))];
  }
}

/** Where the log has snapshots, in batches. */
export async function* snapshotPlaces(redis: Redis, runId: string, range: Range): AsyncGenerator<SnapshotPlace[]> {
  for await (const entries of entriesOf(redis, runId, [snapshotIndex], range)) {
    yield entries.map(({ number, text }) => ({ seq: number, digits: text.slice(0, text.indexOf(':')) }));
  }
}

/** The sequence numbers of the undos of a run, oldest first. */
export async function rewindsOf(redis: Redis, runId: string): Promise<number[]> {
  const { [rewindsField.name]: row } = await readFields(redis, runId, [rewindsField.name]);
  return (row ?? '').split(' ').slice(1).map(Number);
}
