import { useNow } from '../../parts/time.tsx';
import { createKept } from '../../platform/kept-here.ts';
import { useMe } from '../../session/session.tsx';

/** A snoozed approval comes back this long before it expires. */
export const sightMs = 15 * 60_000;

type Times = Readonly<Record<string, number>>;
const kept = createKept<Times>({
  prefix: 'holdpoint.snoozed.',
  parse: (stored) =>
    Object.fromEntries(
      Object.entries(typeof stored === 'object' ? (stored ?? {}) : {}).filter(([, time]) => typeof time === 'number'),
    ),
  toStored: (times) => times,
});

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
  const { key_id: place } = useMe();
  const times = kept.use(place);
  const now = useNow(5000);
  return {
    isSnoozed: (id) => (times[id] ?? 0) > now,
    snooze(approvals, until) {
      const added = approvals.map(({ id, expires_at }) => [id, latest(expires_at, until)] as const);
      kept.change(place, (now) => {
        const asleep = Object.entries(now).filter(([, time]) => time > Date.now());
        return Object.fromEntries([...asleep, ...added]);
      });
    },
    wake: (ids) =>
      kept.change(place, (now) => Object.fromEntries(Object.entries(now).filter(([id]) => !ids.includes(id)))),
  };
}

const latest = (expiresAt: string, until: number): number => Math.min(until, Date.parse(expiresAt) - sightMs);
