import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { identify, bootId as kernelBootId, pidNamespace } from '@holdpoint/process';
import { errnoOf, WorkspaceError } from '../errors.ts';
import type { RunFolder } from './run-folder.ts';

/**
 * The last writer admitted to a tree, the boot of the machine, and the admitting process. The log records the same writer, so a difference
 * proves a return of the log or the tree to an earlier time.
 *
 * The head is the name of the only entry in `<run>/head/`: a rename replaces the entry atomically, and when two processes replace the same head
 * only the first succeeds. The head is not fsynced: after a power cut the boot id differs, reason enough to suspect the tree.
 */
export interface TreeHead {
  readonly epoch: number;
  /** The name in the log; empty when no writer was admitted since the tree was created. */
  readonly writer: string;
  readonly boot: string;
  readonly process: string;
}

/** Identifies a boot of the machine and a process. */
export interface Holder {
  readonly boot: string;
  readonly process: string;
}

/** @param bootId replaces the kernel's boot id */
export function thisProcess(bootId?: string): Holder {
  const start = identify(process.pid)?.start;
  return { boot: short(bootId ?? kernelBootId()), process: `${short(pidNamespace())}-${process.pid}-${start}` };
}

/** Whether a process of this boot still runs; undefined for a process of another container with other process ids. */
export function isRunning(holder: string): boolean | undefined {
  const [space, pid, start] = holder.split('-');
  if (space !== thisProcess().process.split('-')[0]) return undefined;
  return String(identify(Number(pid))?.start) === start;
}

const short = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** Undefined without a head or with several: then the state of the tree is unknown. */
export function readHead({ head }: RunFolder): TreeHead | undefined {
  const names = namesIn(head);
  return names.length === 1 && names[0] !== undefined ? parse(names[0]) : undefined;
}

/** Creates the head of a new tree, without a writer. Replaces the heads of older trees. */
export function createHead(folder: RunFolder, holder: Holder): void {
  mkdirSync(folder.head, { recursive: true, mode: 0o700 });
  const name = format({ epoch: folder.epoch, writer: '', ...holder });
  closeSync(openSync(join(folder.head, name), 'w', 0o600));
  for (const other of namesIn(folder.head)) if (other !== name) rmSync(join(folder.head, other), { force: true });
}

/** Replaces the head. @throws WorkspaceError `EHEADMOVED` when another process replaced the head first */
export function moveHead(folder: RunFolder, from: TreeHead, to: TreeHead): void {
  try {
    renameSync(join(folder.head, format(from)), join(folder.head, format(to)));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    throw new WorkspaceError('EHEADMOVED', `Another process changed the tree ${folder.epoch} of ${folder.runId}.`);
  }
}

const format = ({ epoch, writer, boot, process: id }: TreeHead): string => [epoch, writer, boot, id].join('~');

function parse(name: string): TreeHead | undefined {
  const [epoch, writer, boot, id, ...rest] = name.split('~');
  if (writer === undefined || boot === undefined || id === undefined || rest.length > 0) return undefined;
  return { epoch: Number(epoch), writer, boot, process: id };
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}
