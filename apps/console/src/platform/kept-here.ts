import { useSyncExternalStore } from 'react';

interface Kind<Value> {
  /** Begins the names of all values of this kind in the browser's storage. */
  prefix: string;
  /** Reads a stored value; other programs of this address may have written it. */
  parse: (stored: unknown) => Value;
  /** The value to store; undefined: nothing. */
  toStored: (value: Value) => unknown;
  /** Adds the unstored parts of this tab to the value of another tab. Default: this tab has none. */
  join?: (stored: Value, here: Value) => Value;
}

interface Kept<Value> {
  /** Renders again when this tab or another one writes the value. */
  use(place: string): Value;
  /** Changes the newest value of all tabs. */
  change(place: string, change: (now: Value) => Value): void;
}

/** Values kept in this browser alone, the same in all its tabs. Without room or without storage they stay until the page is closed. */
export function createKept<Value>({ prefix, parse, toStored, join = (stored) => stored }: Kind<Value>): Kept<Value> {
  const known = new Map<string, Value>();
  /** Names of values without room in the storage: the storage has older values. */
  const unstored = new Set<string>();
  const listeners = new Set<() => void>();
  const tellAll = (): void => {
    for (const listener of listeners) listener();
  };
  /** Another tab has written; null: all storage was cleared. */
  const takeOther = ({ key }: StorageEvent): void => {
    if (key !== null && !key.startsWith(prefix)) return;
    for (const name of key === null ? [...known.keys()] : [key]) refresh(name);
    tellAll();
  };
  const refresh = (name: string): Value => {
    const here = known.get(name);
    if (here !== undefined && unstored.has(name)) return here;
    const there = parse(stored(name));
    const value = here === undefined ? there : join(there, here);
    known.set(name, value);
    return value;
  };
  const listen = (listener: () => void): (() => void) => {
    // While nothing was shown, other tabs were not listened to.
    if (listeners.size === 0) {
      window.addEventListener('storage', takeOther);
      for (const name of known.keys()) refresh(name);
    }
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) window.removeEventListener('storage', takeOther);
    };
  };
  const read = (name: string): Value => known.get(name) ?? refresh(name);
  return {
    use: (place) => useSyncExternalStore(listen, () => read(prefix + place)),
    change(place, change) {
      const name = prefix + place;
      const value = change(refresh(name));
      known.set(name, value);
      if (store(name, toStored(value))) unstored.delete(name);
      else unstored.add(name);
      tellAll();
    },
  };
}

function stored(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(name) ?? 'null');
  } catch {
    return null;
  }
}

/** @returns false without room or without storage: the value stays in memory */
function store(name: string, value: unknown): boolean {
  try {
    if (value === undefined) localStorage.removeItem(name);
    else localStorage.setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
