import { type IdKind, idPrefixes } from '@holdpoint/contract';

/** The first 48 bits of a UUIDv7 are milliseconds since the epoch. */
export function timeOfId(id: string): number {
  const hex = id.slice(id.indexOf('_') + 1).replaceAll('-', '');
  return Number.parseInt(hex.slice(0, 12), 16);
}

const graceMs = 60_000;

/** An index entry is written before its append. After a minute without the append, the writer is presumed dead. */
export const isAbandoned = (id: string, now: number): boolean => now - timeOfId(id) > graceMs;

/**
 * A cursor of a list, newest first: a place above the ids of everything that was made before a time. An id is made before its object is
 * recorded, and clocks differ by less than a minute, so readers also compare the recorded time.
 */
export function cursorAt(kind: IdKind, time: string | number | undefined): string | undefined {
  if (time === undefined) return undefined;
  const ms = typeof time === 'string' ? Date.parse(time) : time;
  return firstId(kind, Math.floor(ms) + graceMs);
}

/** The same for a list, oldest first: a place below the ids of everything that was recorded after a time. */
export function cursorFrom(kind: IdKind, time: string | undefined): string | undefined {
  return time === undefined ? undefined : firstId(kind, Date.parse(time) - graceMs);
}

function firstId(kind: IdKind, ms: number): string {
  const hex = Math.min(Math.max(0, ms), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0');
  return `${idPrefixes[kind]}_${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** The cursor that comes later in a list, newest first: both have to hold. */
export const earlierOf = (one: string | undefined, other: string | undefined): string | undefined =>
  one === undefined || (other !== undefined && other < one) ? other : one;

/** The same for a list, oldest first. */
export const laterOf = (one: string | undefined, other: string | undefined): string | undefined =>
  one === undefined || (other !== undefined && other > one) ? other : one;
