import { useSyncExternalStore } from 'react';

const place = 'holdpoint.letters';
const listeners = new Set<() => void>();
let areOn = read();

/** Whether single letters are keys (WCAG 2.1.4): speech input, and hands that slip, need them off. */
export const useLetters = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => areOn,
  );

export function setLetters(on: boolean): void {
  areOn = on;
  try {
    localStorage.setItem(place, on ? 'on' : 'off');
  } catch {
    // Storage may be closed: the choice holds for this page.
  }
  for (const listener of listeners) listener();
}

function read(): boolean {
  try {
    return localStorage.getItem(place) !== 'off';
  } catch {
    return true;
  }
}
