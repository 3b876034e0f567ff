/** The first 48 bits of a UUIDv7 are milliseconds since the epoch. */
export function timeOfId(id: string): number {
  const hex = id.slice(id.indexOf('_') + 1).replaceAll('-', '');
  return Number.parseInt(hex.slice(0, 12), 16);
}

const graceMs = 60_000;

/** An index entry is written before its append. After a minute without the append, the writer is presumed dead. */
export const isAbandoned = (id: string, now: number): boolean => now - timeOfId(id) > graceMs;
