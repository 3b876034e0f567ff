import { createKept } from '../../platform/kept-here.ts';
import { useMe } from '../../session/session.tsx';

/** A comment on a line that was not sent yet. */
export interface Draft {
  id: string;
  path: string;
  line: number;
  side: 'old' | 'new';
  /** The snapshot that was shown on this side; empty: none has the line. The line is looked for from there in every later snapshot. */
  snapshot: string;
  /** The approval of the held call that would make the line. */
  approval?: string | undefined;
  /** The line as it was shown; empty: it was not in sight. */
  quote: string;
  text: string;
}

const kept = createKept<readonly Draft[]>({
  prefix: 'holdpoint.comments.',
  parse: (stored) => (Array.isArray(stored) ? stored.filter(isDraft) : []),
  toStored(drafts) {
    const written = drafts.filter(({ text }) => text.trim() !== '');
    return written.length === 0 ? undefined : written;
  },
  // A draft without words is in its own tab alone.
  join: (stored, here) => [
    ...stored,
    ...here.filter(({ id, text }) => text.trim() === '' && !stored.some((draft) => draft.id === id)),
  ],
});

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
  const place = `${key_id}.${runId}`;
  const all = kept.use(place);
  const change = (next: (now: readonly Draft[]) => readonly Draft[]): void => kept.change(place, next);
  return {
    all,
    add(draft) {
      const id = crypto.randomUUID();
      change((now) => [...now, { ...draft, id, text: '' }]);
      return id;
    },
    write: (id, text) => change((now) => now.map((draft) => (draft.id === id ? { ...draft, text } : draft))),
    remove: (ids) => change((now) => now.filter(({ id }) => !ids.includes(id))),
  };
}

const isDraft = (value: unknown): value is Draft =>
  typeof value === 'object' &&
  value !== null &&
  ['id', 'path', 'snapshot', 'quote', 'text'].every((name) => typeof Reflect.get(value, name) === 'string') &&
  Number.isInteger(Reflect.get(value, 'line')) &&
  ['old', 'new'].includes(Reflect.get(value, 'side'));
