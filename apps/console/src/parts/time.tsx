import { useSyncExternalStore } from 'react';

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** A length of time in its two largest units: `2 h 5 min`; below a minute in one. */
export function spanText(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const at = units.findIndex(([, size]) => ms >= size);
  const [unit, size] = units[at] ?? units[3];
  const count = Math.floor(ms / size);
  const next = units[at + 1];
  const rest = next === undefined ? 0 : Math.floor((ms - count * size) / next[1]);
  return rest === 0 || next === undefined || (unit === 'd' && count > 6)
    ? `${count} ${unit}`
    : `${count} ${unit} ${rest} ${next[0]}`;
}

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function listen(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const each of listeners) each();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time in steps of `stepMs`: a component paints again when the step changes, and all share one timer. */
export const useNow = (stepMs = 1000): number =>
  useSyncExternalStore(listen, () => Math.floor(Date.now() / stepMs)) * stepMs;

const whole = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });

export const wholeTime = (at: string): string => whole.format(new Date(at));

/** A moment as its distance from now, with the date for a pointer and for readers of the page. */
export function Ago({ at }: { at: string }) {
  const now = useNow(1000);
  const distance = now - Date.parse(at);
  const text = distance < 5000 ? 'just now' : `${spanText(distance)} ago`;
  return (
    <time dateTime={at} title={wholeTime(at)} className="numbers">
      {text}
    </time>
  );
}

/** The time left until a deadline. */
export function Until({ at }: { at: string }) {
  const left = Date.parse(at) - useNow(1000);
  return (
    <time dateTime={at} title={wholeTime(at)} className="numbers">
      {left <= 0 ? 'now' : `in ${spanText(left)}`}
    </time>
  );
}
