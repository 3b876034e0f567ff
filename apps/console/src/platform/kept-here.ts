import { useSyncExternalStore } from 'react';

interface Kind<Value> {
  /** Begins the names of all values of this kind in the browser's storage. */
  prefix: string;
  /** Reads a stored value; other programs of this address may have written it. */
  parse: (stored: unknown) => Value;
  /** The value to store; undefined: nothing. */
  toStored: (value: Value) => unknown;
}

interface Kept<Value> {
  /** Renders again when this tab or another one writes the value. */
  use(place: string): Value;
  read(place: string): Value;
  write(place: string, value: Value): void;
}

/** Values kept in this browser alone, the same in all its tabs. Without room or without storage they stay until the page is closed. */
export function createKept<Value>({ prefix, parse, toStored }: Kind<Value>): Kept<Value> {
  const known = new Map<string, Value>();
  const listeners = new Set<() => void>();
  const tellAll = (): void => {
    for (const listener of listeners) listener();
  };
  /** Another tab has written; null: all storage was cleared. */
  const takeOther = ({ key }: StorageEvent): void => {
    if (key !== null && !key.startsWith(prefix)) return;
    if (key === null) known.clear();
    else known.delete(key);
    tellAll();
  };
  const listen = (listener: () => void): (() => void) => {
    if (listeners.size === 0) window.addEventListener('storage', takeOther);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) window.removeEventListener('storage', takeOther);
    };
  };
  const read = (place: string): Value => {
    const name = prefix + place;
    const value = known.has(name) ? (known.get(name) as Value) : parse(stored(name));
    known.set(name, value);
    return value;
  };
  return {
    use: (place) => useSyncExternalStore(listen, () => read(place)),
    read,
    write(place, value) {
      known.set(prefix + place, value);
      store(prefix + place, toStored(value));
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

function store(name: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(name);
    else localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // Without room or without storage the value stays in memory.
  }
}
