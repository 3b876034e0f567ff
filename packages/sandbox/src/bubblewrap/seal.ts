import { readFileSync, readlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isAlive, type ProcessIdentity } from '@holdpoint/process';
import { unescapeOctal } from '@holdpoint/process/mountinfo';
import type { Starter } from '../starter/starter.ts';
import { isFilterArchitecture, syscallTables } from './syscall-table.ts';

const program = fileURLToPath(new URL('seal.pl', import.meta.url));
/** Below these are the programs and libraries of the system, read-only. */
const ofSystem = /^\/(?:usr|bin|sbin|lib|lib32|lib64|libx32)(?:\/|$)/;

export interface SealDeps {
  starter: Pick<Starter, 'start'>;
  perl: string | null;
}

/**
 * Keeps what is not of the system from starting in a sandbox: programs of the tree, also by the loader of libraries, and what a command writes.
 * Resolves to why that could not be done; null when it was. The worker believes the table of mounts alone.
 *
 * @param first a process of the sandbox, whose command has not begun
 */
export async function seal({ starter, perl }: SealDeps, first: ProcessIdentity): Promise<string | null> {
  if (perl === null || !isFilterArchitecture(process.arch)) return 'this host has no perl';
  const { numbers } = syscallTables[process.arch];
  const namespace = readNamespace(first);
  if (namespace === null) return 'it ended during the set-up';
  const calls = ['setns', 'mount_setattr'].map((name) => String(numbers.get(name) ?? -1));
  await ended(starter, perl, [program, String(first.pid), namespace, ...calls]);
  const open = openMount(first);
  return open === null ? null : `programs in ${open} could be started`;
}

function readNamespace(first: ProcessIdentity): string | null {
  try {
    const name = readlinkSync(`/proc/${first.pid}/ns/mnt`);
    return isAlive(first) ? name : null;
  } catch {
    return null;
  }
}

function ended(starter: SealDeps['starter'], perl: string, args: string[]): Promise<void> {
  return new Promise((resolve) => {
    const start = starter.start(
      { program: perl, args, options: { env: {} }, stdio: [null, null, null], niceness: 0, view: null },
      () => {},
    );
    start.follow({
      started() {},
      listener() {},
      failed: () => resolve(),
      ended: () => resolve(),
      lost: () => resolve(),
    });
  });
}

/** A mount of the sandbox where a program could start, or a file of the tree be written; null: there is none. */
function openMount({ pid }: ProcessIdentity): string | null {
  let table: string;
  try {
    table = readFileSync(`/proc/${pid}/mountinfo`, 'latin1');
  } catch {
    return 'a sandbox that ended';
  }
  for (const line of table.trimEnd().split('\n')) {
    const [, , , , place = '', flags = ''] = line.split(' ');
    const options = flags.split(',');
    const path = unescapeOctal(place);
    const isSystem = path === '/' || ofSystem.test(path);
    const isHeld = isSystem || /^\/workspace(?:\/|$)/.test(path) ? options.includes('ro') : true;
    if (!isHeld || (!isSystem && !options.includes('noexec'))) return path;
  }
  return null;
}
