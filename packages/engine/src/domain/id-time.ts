/** When an id was made: the first 48 bits of a UUIDv7 are milliseconds since the epoch. */
function timeOfId(id: string): number {
  const hex = id.slice(id.indexOf('_') + 1).replaceAll('-', '');
  return Number.parseInt(hex.slice(0, 12), 16);
}

const grace = 60_000;

/** An index entry is written before the append that makes it true. After a minute without one, its writer is gone. */
export const isAbandoned = (id: string, now: number): boolean => now - timeOfId(id) > grace;
