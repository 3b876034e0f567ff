import { readFileSync, readlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isAlive, type ProcessIdentity } from '@holdpoint/process';
import { unescapeOctal } from '@holdpoint/process/mountinfo';
import type { Starter } from '../starter/starter.ts';
import { isFilterArchitecture, syscallTables } from './syscall-table.ts';

const program = fileURLToPath(new URL('seal.pl', import.meta.url));
/** Paths of the system's programs and libraries, mounted read-only. */
const ofSystem = /^\/(?:usr|bin|sbin|lib|lib32|lib64|libx32)(?:\/|$)/;

export interface SealDeps {
  starter: Pick<Starter, 'start'>;
  perl: string | null;
}

/**
 * Keeps all programs except the system's from starting in a sandbox: programs of the tree, even through the loader of libraries, and files
 * written by a command. Resolves to the reason of a failure; null on success. The worker trusts only the table of mounts.
 *
 * @param first a process of the sandbox, before the command begins
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

/** Finds a mount of the sandbox allowing a program to start, or a file of the tree or the system to be written. Null when no mount does. */
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
