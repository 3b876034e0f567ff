/** The damage of bytes on disk, as a sentence; undefined for sound bytes. */
export type Damage = string | undefined;

/** What this process found in bytes that nothing changes: a first use reads them, later uses look at what identifies them. */
export interface Checks {
  /** @param input.id names the bytes and their identity on disk. @param input.within repeats checks older than this, ms */
  check(input: { id: string; within?: number | undefined }, look: () => Promise<Damage>): Promise<Damage>;
  /** Notes bytes just written by this process. */
  noteSound(id: string): void;
}

const mostRemembered = 10_000;

export function createChecks(): Checks {
  const known = new Map<string, { at: number; damage: Promise<Damage> }>();
  const note = (id: string, damage: Promise<Damage>) => {
    known.delete(id);
    known.set(id, { at: performance.now(), damage });
    for (const oldest of known.keys()) if (known.size > mostRemembered) known.delete(oldest);
    return damage;
  };
  return {
    check({ id, within = Number.POSITIVE_INFINITY }, look) {
      const last = known.get(id);
      if (last !== undefined && performance.now() - last.at <= within) return last.damage;
      const damage = note(id, look());
      // A failed look counts as none.
      damage.catch(() => known.delete(id));
      return damage;
    },
    noteSound: (id) => void note(id, Promise.resolve(undefined)),
  };
}
