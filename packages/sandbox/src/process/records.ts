import { randomUUID } from 'node:crypto';
import { closeSync, constants, existsSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bootId, type ProcessIdentity } from '@holdpoint/process';
import { z } from 'zod';
import { SandboxError, type TreeRequest } from '../tree.ts';
import * as stateFiles from './state-files.ts';

const identitySchema = z.strictObject({ pid: z.int().positive(), start: z.int().nonnegative() });
const recordSchema = z.strictObject({
  /** Start times count from boot, so a record of an earlier boot names no process. */
  boot: z.string(),
  /** The tree ends when these processes end. */
  processes: z.array(identitySchema).min(1),
  label: z.string().optional(),
});
const announcementSchema = recordSchema.pick({ boot: true, label: true });

/**
 * Lines of the record of a labelled tree whose command waits for the worker's go-ahead, and of a tree whose command has it. Readers of the
 * processes skip both, because neither is JSON. A record without these lines is of a command that began with its tree.
 */
const marks = { waiting: 'command waits', begun: 'command begins' } as const;

/**
 * Records of a workspace's sandboxed processes on this host, as files for all workers of the host:
 * `<stateDir>/<workspaceId>/<pid>-<start>.json`. The last line of a record that is JSON counts. `killAll` renames a record to `.killed` before killing,
 * so the tree's own worker recognises the kill.
 *
 * A worker can be stopped at any instruction and resume much later. When a worker is stopped between the start of a tree and its record,
 * other workers see the announcement `<worker>-<uuid>.starting`. `killAll` removes the announcement. A resumed worker without its
 * announcement kills the started tree. Only set-up code can have run: the command waits for the worker's go-ahead.
 */
export class ProcessRecords {
  readonly #stateDir: string;
  readonly #boot: string;

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
    this.#boot = bootId();
  }

  /**
   * Starts a tree under an announcement. The caller removes the announcement by `write` or `withdraw`. When the start fails, `announced`
   * withdraws the announcement.
   */
  announced<Started>(
    { workspace, label }: Pick<TreeRequest, 'workspace' | 'label'>,
    start: () => Started,
  ): { started: Started; announcement: string } {
    const name = `${process.pid}-${randomUUID()}.starting`;
    const announcement = join(stateFiles.workspaceDirectory(this.#stateDir, workspace.id), name);
    // Readers need only the label, so an announcement without a label is an empty file.
    if (label === null) this.#unlessUnusable(() => stateFiles.writeInto(announcement, ''));
    else this.#write(announcement, { label });
    try {
      return { started: start(), announcement };
    } catch (error) {
      this.withdraw(announcement);
      throw error;
    }
  }

  /** False when `killAll` came first. The caller must then kill the started tree. */
  withdraw(announcement: string): boolean {
    const wasThere = stateFiles.removeFile(announcement);
    stateFiles.removeEmpty(dirname(announcement));
    return wasThere;
  }

  /**
   * Records a tree by its first process, in place of the announcement. Synchronous, so no await lies between a start and its record.
   * @param waits whether the command waits for the worker, who calls `begin`
   * @returns false when `killAll` came first. The caller must then kill the started tree
   */
  write(
    workspaceId: string,
    record: { first: ProcessIdentity; label: string | null; announcement: string; waits?: boolean },
  ): boolean {
    const { first, label, announcement, waits = false } = record;
    try {
      const mark = waits ? `${marks.waiting}\n` : '';
      this.#write(this.#path(workspaceId, first), { processes: [first], label: label ?? undefined }, mark);
    } catch (error) {
      this.withdraw(announcement);
      throw error;
    }
    return stateFiles.removeFile(announcement);
  }

  /**
   * Records more processes of a tree. Adds a line, because replacing a file costs a write to the disk (ext4).
   * @returns false when `killAll` has claimed the tree. Nothing is recorded then
   */
  update(
    workspaceId: string,
    processes: readonly [ProcessIdentity, ...ProcessIdentity[]],
    label: string | null,
  ): boolean {
    return this.#append(workspaceId, processes[0], this.#line({ processes, label: label ?? undefined }));
  }

  /**
   * Records that the worker is about to let the command of a waiting tree begin.
   * @returns false when `killAll` has claimed the tree
   */
  begin(workspaceId: string, first: ProcessIdentity): boolean {
    return this.#append(workspaceId, first, `${marks.begun}\n`);
  }

  #append(workspaceId: string, first: ProcessIdentity, line: string): boolean {
    try {
      const fd = openSync(this.#path(workspaceId, first), constants.O_WRONLY | constants.O_APPEND);
      try {
        writeSync(fd, line);
      } finally {
        closeSync(fd);
      }
      return true;
    } catch (error) {
      if (stateFiles.isMissing(error)) return false;
      throw unusable(this.#stateDir, error);
    }
  }

  /** True while `killAll` has not claimed the tree. */
  has(workspaceId: string, first: ProcessIdentity): boolean {
    return existsSync(this.#path(workspaceId, first));
  }

  /** Removes the record of an ended tree. `killed`: whether `killAll` had claimed the tree. */
  remove(workspaceId: string, first: ProcessIdentity): { killed: boolean } {
    const path = this.#path(workspaceId, first);
    const own = stateFiles.removeFile(path);
    if (!own) stateFiles.removeFile(claimedPath(path));
    stateFiles.removeEmpty(dirname(path));
    return { killed: !own };
  }

  /** The recorded trees with a label. */
  labelled(workspaceId: string): ProcessIdentity[][] {
    return this.#labelled(workspaceId, () => true);
  }

  /** The recorded trees with a label whose command may have begun. */
  begun(workspaceId: string): ProcessIdentity[][] {
    return this.#labelled(workspaceId, (lines) => lines.includes(marks.begun) || !lines.includes(marks.waiting));
  }

  #labelled(workspaceId: string, counts: (lines: readonly string[]) => boolean): ProcessIdentity[][] {
    const directory = stateFiles.workspaceDirectory(this.#stateDir, workspaceId);
    return stateFiles
      .listNames(directory)
      .filter((name) => name.endsWith('.json'))
      .flatMap((name) => {
        const text = readText(join(directory, name));
        const record = this.#parse(text);
        const isLabelled = typeof record === 'object' && record.label !== undefined;
        return isLabelled && counts(text?.split('\n') ?? []) ? [record.processes] : [];
      });
  }

  /**
   * Marks the records of the workspace as killed and returns their trees. Removes stale and unreadable records.
   * @param label only records with this label
   */
  claim(workspaceId: string, label?: string): ProcessIdentity[][] {
    const directory = stateFiles.workspaceDirectory(this.#stateDir, workspaceId);
    const trees: ProcessIdentity[][] = [];
    for (const name of stateFiles.listNames(directory)) {
      const path = join(directory, name);
      if (name.endsWith('.starting') && this.#matches(path, label)) stateFiles.removeFile(path);
      if (!name.endsWith('.json') && !name.endsWith('.killed')) continue;
      const record = this.#read(path);
      if (record === 'ended') continue;
      if (record === 'stale') {
        stateFiles.removeFile(path);
        continue;
      }
      if (label !== undefined && record.label !== label) continue;
      if (name.endsWith('.json')) stateFiles.renameIfThere(path, claimedPath(path));
      trees.push(record.processes);
    }
    stateFiles.removeEmpty(directory);
    return trees;
  }

  #read(path: string): z.infer<typeof recordSchema> | 'ended' | 'stale' {
    return this.#parse(readText(path));
  }

  #parse(text: string | null): z.infer<typeof recordSchema> | 'ended' | 'stale' {
    if (text === null) return 'ended';
    // The last line may be half-written. Only a power cut leaves no whole line, and the power cut has ended the processes.
    const last = text
      .split('\n')
      .map(parseJson)
      .findLast((line) => line !== undefined);
    const record = recordSchema.safeParse(last);
    return record.success && record.data.boot === this.#boot ? record.data : 'stale';
  }

  /** Atomic for readers. */
  #write(path: string, data: object, mark = ''): void {
    const temporary = `${path}.${process.pid}.new`;
    this.#unlessUnusable(() => {
      stateFiles.writeInto(temporary, `${mark}${this.#line(data)}`);
      renameSync(temporary, path);
    });
  }

  #line(data: object): string {
    return `${JSON.stringify({ boot: this.#boot, ...data })}\n`;
  }

  /** Another process may remove the empty directory between two calls. */
  #unlessUnusable(write: () => void): void {
    for (let tries = 1; ; tries++) {
      try {
        write();
        return;
      } catch (error) {
        if (!stateFiles.isMissing(error) || tries === 5) throw unusable(this.#stateDir, error);
      }
    }
  }

  #path(workspaceId: string, { pid, start }: ProcessIdentity): string {
    return join(stateFiles.workspaceDirectory(this.#stateDir, workspaceId), `${pid}-${start}.json`);
  }

  #matches(announcement: string, label: string | undefined): boolean {
    if (label === undefined) return true;
    const read = announcementSchema.safeParse(parseJson(readText(announcement) ?? ''));
    return read.success && read.data.label === label;
  }
}

function unusable(stateDir: string, cause: unknown): SandboxError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new SandboxError('ESANDBOXSETUP', `A process was killed because it could not be recorded: ${detail}`, {
    retryable: true,
    next: `Check that ${stateDir} is writable and has free space.`,
    cause,
  });
}

const claimedPath = (path: string): string => `${path.slice(0, -'.json'.length)}.killed`;

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
    if (stateFiles.isMissing(error)) return null;
    throw error;
  }
}
