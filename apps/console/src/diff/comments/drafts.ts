import { useSyncExternalStore } from 'react';
import { useMe } from '../../session/session.tsx';

/** A comment on a line that was not sent yet. */
export interface Draft {
  id: string;
  path: string;
  line: number;
  side: 'old' | 'new';
  /** The snapshot that was shown on this side. The line is looked for from there in every later snapshot. */
  snapshot: string;
  /** The line as it was shown; empty: it was not in sight. */
  quote: string;
  text: string;
}

const prefix = 'holdpoint.comments.';
const known = new Map<string, readonly Draft[]>();
const listeners = new Set<() => void>();
const none: readonly Draft[] = [];

export interface Drafts {
  all: readonly Draft[];
  add(draft: Omit<Draft, 'id' | 'text'>): string;
  write(id: string, text: string): void;
  remove(ids: readonly string[]): void;
}

/**
 * The drafts of a run, kept in this browser until they are sent: they survive a reload, a lost session, and every later snapshot. Another
 * caller in the same browser has drafts of their own.
 */
export function useDrafts(runId: string): Drafts {
  const { key_id } = useMe();
  const place = `${prefix}${key_id}.${runId}`;
  const all = useSyncExternalStore(listen, () => read(place));
  const change = (next: readonly Draft[]): void => keep(place, next);
  return {
    all,
    add(draft) {
      const id = crypto.randomUUID();
      change([...read(place), { ...draft, id, text: '' }]);
      return id;
    },
    write: (id, text) => change(read(place).map((draft) => (draft.id === id ? { ...draft, text } : draft))),
    remove: (ids) => change(read(place).filter(({ id }) => !ids.includes(id))),
  };
}

function listen(listener: () => void): () => void {
  if (listeners.size === 0) window.addEventListener('storage', takeOther);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener('storage', takeOther);
  };
}

/** Another tab has written; null: all storage was cleared. */
function takeOther({ key }: StorageEvent): void {
  if (key !== null && !key.startsWith(prefix)) return;
  if (key === null) known.clear();
  else known.delete(key);
  for (const listener of listeners) listener();
}

function read(place: string): readonly Draft[] {
  const found = known.get(place) ?? stored(place);
  known.set(place, found);
  return found;
}

function keep(place: string, drafts: readonly Draft[]): void {
  known.set(place, drafts);
  const written = drafts.filter(({ text }) => text.trim() !== '');
  try {
    if (written.length === 0) localStorage.removeItem(place);
    else localStorage.setItem(place, JSON.stringify(written));
  } catch {
    // A browser without room or without storage keeps the drafts until the page is closed.
  }
  for (const listener of listeners) listener();
}

function stored(place: string): readonly Draft[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(place) ?? '[]');
    return Array.isArray(value) ? value.filter(isDraft) : none;
  } catch {
    return none;
  }
}

const isDraft = (value: unknown): value is Draft =>
  typeof value === 'object' &&
  value !== null &&
  ['id', 'path', 'snapshot', 'quote', 'text'].every((name) => typeof Reflect.get(value, name) === 'string') &&
  Number.isInteger(Reflect.get(value, 'line')) &&
  ['old', 'new'].includes(Reflect.get(value, 'side'));
