import type { DamagedEntry } from '@holdpoint/contract/wire';
import { readEntry, splitDamaged } from '@holdpoint/engine';
import type { ApiDeps } from '../deps.ts';
import { toProblem } from './to-problem.ts';

type Logger = Pick<ApiDeps, 'logger'>;

interface Unreadable {
  id: string;
  error: unknown;
}

/** The field `damaged` of a page, logged with the causes; nothing when every entry was read. */
export function showDamaged({ logger }: Logger, damaged: readonly Unreadable[]): { damaged?: DamagedEntry[] } {
  if (damaged.length === 0) return {};
  for (const { id, error } of damaged) logger.error({ id, err: error }, 'an entry of a list cannot be read');
  return { damaged: damaged.map(toEntry) };
}

/** Makes the entries of a list. A failing entry is named as damaged, and the others are shown. */
export async function showEach<Item, Shown>(
  deps: Logger,
  { items, damaged = [] }: { items: readonly Item[]; damaged?: readonly Unreadable[] },
  { idOf, show }: { idOf: (item: Item) => string; show: (item: Item) => Shown | Promise<Shown> },
): Promise<{ data: Shown[]; damaged?: DamagedEntry[] }> {
  const entries = await Promise.all(items.map((item) => readEntry(idOf(item), () => show(item))));
  const { items: data, damaged: failed } = splitDamaged<Shown>(entries);
  return { data, ...showDamaged(deps, [...damaged, ...failed]) };
}

function toEntry({ id, error }: Unreadable): DamagedEntry {
  const { code, detail, next } = toProblem(error);
  return code === 'internal' ? { id, ...unreadable } : { id, code, detail, next: next ?? unreadable.next };
}

const unreadable = {
  code: 'state_damaged',
  detail: 'the stored data of this entry cannot be read; the log of the API has the cause',
  next: 'Restore the data directory and Redis from the same backup, or cancel the run.',
};
