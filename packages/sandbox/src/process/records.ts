import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bootId, type ProcessIdentity } from '@holdpoint/process';
import { z } from 'zod';
import { SandboxError } from '../errors.ts';
import type { TreeRequest } from '../tree.ts';
import {
  isMissing,
  listNames,
  removeEmpty,
  removeFile,
  renameIfThere,
  workspaceDirectory,
  writeInto,
} from './state-files.ts';

const identitySchema = z.strictObject({ pid: z.int().positive(), start: z.int().nonnegative() });
const recordSchema = z.strictObject({
  /** Start times count from boot, so a record of an earlier boot names nobody. */
  boot: z.string(),
  /** The processes whose end is the end of the tree. */
  processes: z.array(identitySchema).min(1),
  label: z.string().optional(),
});
const announcementSchema = recordSchema.pick({ boot: true, label: true });

/**
 * Which sandboxed processes run for a workspace on this host, as files that every worker of the host can read:
 * `<stateDir>/<workspaceId>/<pid>-<start>.json`. `killAll` renames a record to `.killed` before it kills, which tells the owner that
 * the end was not the command's own doing.
 *
 * A worker can be stopped at any instruction, and go on much later. One that was stopped between starting a tree and recording it is seen by
 * its announcement, `<worker>-<uuid>.starting`, which `killAll` removes. Whoever goes on and finds it removed ends what he started, of
 * which nothing but the set-up can have run: that waits for a word from him.
 */
export class ProcessRecords {
  readonly #stateDir: string;
  readonly #boot: string;

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
    this.#boot = bootId();
  }

  /** Starts a tree under an announcement, which is to be withdrawn when the tree is recorded, or was not started after all. */
  announced<Started>(
    { workspace, label }: Pick<TreeRequest, 'workspace' | 'label'>,
    start: () => Started,
  ): { started: Started; announcement: string } {
    const name = `${process.pid}-${randomUUID()}.starting`;
    const announcement = join(workspaceDirectory(this.#stateDir, workspace.id), name);
    this.#write(announcement, label === null ? {} : { label });
    try {
      return { started: start(), announcement };
    } catch (error) {
      this.withdraw(announcement);
      throw error;
    }
  }

  /** False when a kill came in between, and what was started must end. */
  withdraw(announcement: string): boolean {
    const stands = removeFile(announcement);
    removeEmpty(dirname(announcement));
    return stands;
  }

  /** Writes or replaces the record of a tree; the first process names it. Synchronous, so that no await lies between a spawn and its record. */
  write(
    workspaceId: string,
    processes: readonly [ProcessIdentity, ...ProcessIdentity[]],
    label: string | null = null,
  ): void {
    const path = join(workspaceDirectory(this.#stateDir, workspaceId), `${recordName(processes[0])}.json`);
    this.#write(path, { processes, ...(label === null ? {} : { label }) });
  }

  /** True while `killAll` has not claimed the tree. */
  has(workspaceId: string, first: ProcessIdentity): boolean {
    return existsSync(join(workspaceDirectory(this.#stateDir, workspaceId), `${recordName(first)}.json`));
  }

  /** Removes the record of an ended tree. Says whether `killAll` had claimed it. */
  remove(workspaceId: string, first: ProcessIdentity): { killed: boolean } {
    const directory = workspaceDirectory(this.#stateDir, workspaceId);
    const path = join(directory, recordName(first));
    const own = removeFile(`${path}.json`);
    removeFile(`${path}.killed`);
    removeEmpty(directory);
    return { killed: !own };
  }

  /** Trees with a label, as they are recorded now. */
  labelled(workspaceId: string): ProcessIdentity[][] {
    const directory = workspaceDirectory(this.#stateDir, workspaceId);
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
    const directory = workspaceDirectory(this.#stateDir, workspaceId);
    const trees: ProcessIdentity[][] = [];
    for (const name of listNames(directory)) {
      const path = join(directory, name);
      if (name.endsWith('.starting') && this.#isMeant(path, label)) removeFile(path);
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
    const text = readText(path);
    if (text === null) return 'ended';
    // a half-written record can only be left by a power cut, after which nothing of it runs
    const record = recordSchema.safeParse(parseJson(text));
    return record.success && record.data.boot === this.#boot ? record.data : 'stale';
  }

  /** Complete or not at all, for whoever reads it. */
  #write(path: string, data: object): void {
    const temporary = `${path}.${process.pid}.new`;
    for (let tries = 1; ; tries++) {
      try {
        writeInto(temporary, JSON.stringify({ boot: this.#boot, ...data }));
        renameSync(temporary, path);
        return;
      } catch (error) {
        if (!isMissing(error) || tries === 5) throw unusable(this.#stateDir, error);
      }
    }
  }

  #isMeant(announcement: string, label: string | undefined): boolean {
    if (label === undefined) return true;
    const read = announcementSchema.safeParse(parseJson(readText(announcement) ?? ''));
    return read.success && read.data.label === label;
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
