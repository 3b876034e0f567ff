import { useState } from 'react';

const prefix = 'holdpoint.viewed.';
/** Snapshots whose marks are kept; the oldest go first. */
const mostSnapshots = 100;

/** The files that a person has marked as viewed, kept on this device for each pair of snapshots. A changed file has another snapshot. */
export function useViewed(snapshots: string) {
  const [viewed, setViewed] = useState(() => read(snapshots));
  const toggle = (path: string): void => {
    // Another tab may have marked other files.
    const next = new Set([...read(snapshots), ...viewed]);
    if (viewed.has(path)) next.delete(path);
    else next.add(path);
    setViewed(next);
    write(snapshots, next);
  };
  return { viewed, toggle };
}

function read(snapshots: string): ReadonlySet<string> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(prefix + snapshots) ?? '[]');
    return new Set(Array.isArray(stored) ? stored.filter((path) => typeof path === 'string') : []);
  } catch {
    return new Set();
  }
}

function write(snapshots: string, viewed: ReadonlySet<string>): void {
  try {
    // Written again at its end: keys stand in the order of their last use.
    localStorage.removeItem(prefix + snapshots);
    localStorage.setItem(prefix + snapshots, JSON.stringify([...viewed]));
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix));
    for (const key of keys.slice(0, Math.max(0, keys.length - mostSnapshots))) localStorage.removeItem(key);
  } catch {
    // A browser without room or without storage keeps the marks until the page is closed.
  }
}
