import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createYielder } from '../../files/index.ts';

const pollMs = 20;

/**
 * Waits until no process has any of the files open for writing, at most `longestMs`. A file set aside can only be written through earlier
 * descriptors, so a single scan without writers is final. The scan sees processes with readable descriptors: all processes for root, else the
 * user's own processes. Outside Linux the scan sees none.
 * @returns the names of the still open files
 */
export async function waitForWriters(names: ReadonlySet<string>, longestMs: number): Promise<Set<string>> {
  const until = performance.now() + longestMs;
  let open = await openForWriting(names);
  while (open.size > 0 && performance.now() < until) {
    await wait(pollMs);
    open = await openForWriting(open);
  }
  return open;
}

/** Compares only the last component: the names are unique on the host, and another mount namespace has another path. */
async function openForWriting(names: ReadonlySet<string>): Promise<Set<string>> {
  const open = new Set<string>();
  if (process.platform !== 'linux' || names.size === 0) return open;
  const maybeYield = createYielder();
  for (const pid of list('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const pause = maybeYield();
    if (pause !== undefined) await pause;
    for (const fd of list(`/proc/${pid}/fd`)) {
      const name = nameOf(`/proc/${pid}/fd/${fd}`);
      if (name !== undefined && names.has(name) && isWriting(`/proc/${pid}/fdinfo/${fd}`)) open.add(name);
    }
  }
  return open;
}

function nameOf(link: string): string | undefined {
  try {
    return basename(readlinkSync(link));
  } catch {
    return undefined;
  }
}

/** `flags` is octal; its last two bits are the access mode, 0 for reading. */
function isWriting(path: string): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(path, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & 3) !== 0;
  } catch {
    return false;
  }
}

/** Empty for an ended process, or a process with hidden descriptors. */
function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
