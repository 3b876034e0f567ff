import { useSyncExternalStore } from 'react';
import { useNow } from '../../parts/clock.ts';
import { useMe } from '../../session/session.tsx';

const prefix = 'holdpoint.snoozed.';
/** What expires soon is never out of sight: it comes back this long before. */
export const sightMs = 15 * 60_000;

type Times = Readonly<Record<string, number>>;
const nothing: Times = {};
const known = new Map<string, Times>();
const listeners = new Set<() => void>();

export interface Snoozed {
  isSnoozed(id: string): boolean;
  /** Until the time, or a quarter of an hour before the approval expires. */
  snooze(approvals: readonly { id: string; expires_at: string }[], until: number): void;
  wake(ids: readonly string[]): void;
}

/**
 * The approvals that a person wants to see later. They are kept in this browser alone, by key: the inbox of every other caller, the pushes
 * and the deadlines know nothing of it.
 */
export function useSnoozed(): Snoozed {
  const { key_id } = useMe();
  const place = prefix + key_id;
  const times = useSyncExternalStore(listen, () => read(place));
  const now = useNow(5000);
  return {
    isSnoozed: (id) => (times[id] ?? 0) > now,
    snooze(approvals, until) {
      const kept = Object.entries(read(place)).filter(([, time]) => time > Date.now());
      const added = approvals.map(({ id, expires_at }) => [id, latest(expires_at, until)] as const);
      write(place, Object.fromEntries([...kept, ...added]));
    },
    wake: (ids) => write(place, Object.fromEntries(Object.entries(read(place)).filter(([id]) => !ids.includes(id)))),
  };
}

const latest = (expiresAt: string, until: number): number => Math.min(until, Date.parse(expiresAt) - sightMs);

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
  known.clear();
  for (const listener of listeners) listener();
}

function read(place: string): Times {
  const times = known.get(place) ?? stored(place);
  known.set(place, times);
  return times;
}

function write(place: string, times: Times): void {
  known.set(place, times);
  try {
    localStorage.setItem(place, JSON.stringify(times));
  } catch {
    // A browser without storage shows all of them again after a reload.
  }
  for (const listener of listeners) listener();
}

function stored(place: string): Times {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(place) ?? '{}');
    if (typeof value !== 'object' || value === null) return nothing;
    return Object.fromEntries(Object.entries(value).filter(([, time]) => typeof time === 'number'));
  } catch {
    return nothing;
  }
}
