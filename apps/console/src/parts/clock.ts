import { useSyncExternalStore } from 'react';

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
