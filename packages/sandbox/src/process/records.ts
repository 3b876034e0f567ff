import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SandboxError } from '../errors.ts';
import type { ProcessIdentity } from './identity.ts';

const identitySchema = z.strictObject({ pid: z.int().positive(), start: z.int().nonnegative() });
const recordSchema = z.strictObject({
  /** Start times count from boot, so a record of an earlier boot names nobody. */
  boot: z.string(),
  /** The processes whose end is the end of the tree. */
  processes: z.array(identitySchema).min(1),
  label: z.string().optional(),
});

/**
 * Which sandboxed processes run for a workspace on this host, as files that every worker of the host can read:
 * `<stateDir>/<workspaceId>/<pid>-<start>.json`. `killAll` renames a record to `.killed` before it kills, which tells the owner that
 * the end was not the command's own doing.
 */
export class ProcessRecords {
  readonly #stateDir: string;
  readonly #boot: string;

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
    this.#boot = readBoot();
  }

  /** Writes or replaces the record of a tree; the first process names it. Synchronous, so that no await lies between a spawn and its record. */
  write(
    workspaceId: string,
    processes: readonly [ProcessIdentity, ...ProcessIdentity[]],
    label: string | null = null,
  ): void {
    const directory = this.#directory(workspaceId);
    const path = join(directory, `${recordName(processes[0])}.json`);
    const temporary = `${path}.${process.pid}.new`;
    const data = JSON.stringify({ boot: this.#boot, processes, ...(label === null ? {} : { label }) });
    for (let tries = 1; ; tries++) {
      try {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        writeFileSync(temporary, data, { mode: 0o600 });
        renameSync(temporary, path);
        return;
      } catch (error) {
        // another process removed the directory, empty for a moment, between the two calls
        if (!isMissing(error) || tries === 5) throw unusable(this.#stateDir, error);
      }
    }
  }

  /** True while `killAll` has not claimed the tree. */
  has(workspaceId: string, first: ProcessIdentity): boolean {
    return existsSync(join(this.#directory(workspaceId), `${recordName(first)}.json`));
  }

  /** Removes the record of an ended tree. Says whether `killAll` had claimed it. */
  remove(workspaceId: string, first: ProcessIdentity): { killed: boolean } {
    const directory = this.#directory(workspaceId);
    const path = join(directory, recordName(first));
    const own = removeFile(`${path}.json`);
    removeFile(`${path}.killed`);
    removeEmpty(directory);
    return { killed: !own };
  }

  /** Trees with a label, as they are recorded now. */
  labelled(workspaceId: string): ProcessIdentity[][] {
    const directory = this.#directory(workspaceId);
    return listNames(directory)
      .filter((name) => name.endsWith('.json'))
      .flatMap((name) => {
        const record = this.#read(join(directory, name));
        return typeof record === 'object' && record.label !== undefined ? [record.processes] : [];
      });
  }

  /**
   * Marks every record of the workspace as killed and returns the trees; stale and unreadable records are removed.
   * @param label only those with this label
   */
  claim(workspaceId: string, label?: string): ProcessIdentity[][] {
    const directory = this.#directory(workspaceId);
    const trees: ProcessIdentity[][] = [];
    for (const name of listNames(directory)) {
      const path = join(directory, name);
      if (!name.endsWith('.json') && !name.endsWith('.killed')) continue;
      const record = this.#read(path);
      if (record === 'ended') continue;
      if (record === 'stale') {
        removeFile(path);
        continue;
      }
      if (label !== undefined && record.label !== label) continue;
      if (name.endsWith('.json')) renameIfThere(path, `${path.slice(0, -'.json'.length)}.killed`);
      trees.push(record.processes);
    }
    removeEmpty(directory);
    return trees;
  }

  #read(path: string): z.infer<typeof recordSchema> | 'ended' | 'stale' {
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      if (isMissing(error)) return 'ended';
      throw error;
    }
    // a half-written record can only be left by a power cut, after which nothing of it runs
    const record = recordSchema.safeParse(parseJson(text));
    return record.success && record.data.boot === this.#boot ? record.data : 'stale';
  }

  #directory(workspaceId: string): string {
    if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/.test(workspaceId)) {
      throw new SandboxError(
        'ECOMMANDINVALID',
        `The workspace id ${JSON.stringify(workspaceId)} cannot be a directory name.`,
        {
          retryable: false,
          next: 'Use letters, digits, dots, hyphens and underscores; at most 200 of them.',
        },
      );
    }
    return join(this.#stateDir, workspaceId);
  }
}

function unusable(stateDir: string, cause: unknown): SandboxError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new SandboxError('ESANDBOXSETUP', `A process could not be recorded, so it was killed: ${detail}`, {
    retryable: true,
    next: `Check that ${stateDir} can be written and has space.`,
    cause,
  });
}

function recordName({ pid, start }: ProcessIdentity): string {
  return `${pid}-${start}`;
}

function readBoot(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return 'unknown';
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function removeFile(path: string): boolean {
  try {
    rmSync(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!isMissing(error)) throw error; // the owner removed it first: the tree has ended
  }
}

function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // others still have records in it, or it is already gone
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
