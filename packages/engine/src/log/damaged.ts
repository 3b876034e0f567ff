import { redisTrouble } from '../redis/trouble.ts';

/** A list entry whose stored state, or a file of the entry, cannot be read. The other entries are listed. */
export class Damaged {
  readonly id: string;
  readonly error: unknown;

  constructor(id: string, error: unknown) {
    this.id = id;
    this.error = error;
  }
}

/** Reads an entry of a list. @throws when Redis fails, because then no entry can be read */
export async function readEntry<Entry>(id: string, read: () => Entry | Promise<Entry>): Promise<Entry | Damaged> {
  try {
    return await read();
  } catch (error) {
    if (redisTrouble(error) !== undefined) throw error;
    return new Damaged(id, error);
  }
}

/** Separates the readable entries from the damaged entries. */
export function splitDamaged<Entry>(entries: readonly (Entry | Damaged)[]): { items: Entry[]; damaged: Damaged[] } {
  const items: Entry[] = [];
  const damaged: Damaged[] = [];
  for (const entry of entries) {
    if (entry instanceof Damaged) damaged.push(entry);
    else items.push(entry);
  }
  return { items, damaged };
}
