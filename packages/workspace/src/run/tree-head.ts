import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { identify, bootId as kernelBootId, pidNamespace } from '@holdpoint/process';
import { errnoOf, WorkspaceError } from '../errors.ts';
import type { RunFolder } from './run-folder.ts';

/**
 * Which writer was last let at a tree, during which boot of the machine, and by which process. The log records the same writer, so a
 * difference between the two shows that the log or the tree went back to an earlier time.
 *
 * It is the name of the only entry in `<run>/head/`: a rename replaces it as a whole, and of two processes that replace the same one only
 * the first succeeds. It is not fsynced: after a power cut the boot is another one, and that alone makes the tree suspect.
 */
export interface TreeHead {
  readonly epoch: number;
  /** As the log names it; empty: no writer since the tree was made. */
  readonly writer: string;
  readonly boot: string;
  readonly process: string;
}

/** Tells one boot of the machine from another, and one process of it from another. */
export interface Holder {
  readonly boot: string;
  readonly process: string;
}

/** @param bootId what is compared in place of the kernel's own id */
export function thisProcess(bootId?: string): Holder {
  const start = identify(process.pid)?.start;
  return { boot: short(bootId ?? kernelBootId()), process: `${short(pidNamespace())}-${process.pid}-${start}` };
}

/** Whether a process of this boot still runs; undefined where its id means nothing here (another container). */
export function isRunning(holder: string): boolean | undefined {
  const [space, pid, start] = holder.split('-');
  if (space !== thisProcess().process.split('-')[0]) return undefined;
  return String(identify(Number(pid))?.start) === start;
}

const short = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** Undefined when there is none, or more than one: then nothing is known of the tree. */
export function readHead({ head }: RunFolder): TreeHead | undefined {
  const names = namesIn(head);
  return names.length === 1 && names[0] !== undefined ? parse(names[0]) : undefined;
}

/** For a tree that was just made: no writer yet. Replaces the heads of older trees. */
export function startHead(folder: RunFolder, holder: Holder): void {
  mkdirSync(folder.head, { recursive: true, mode: 0o700 });
  const name = format({ epoch: folder.epoch, writer: '', ...holder });
  closeSync(openSync(join(folder.head, name), 'w', 0o600));
  for (const other of namesIn(folder.head)) if (other !== name) rmSync(join(folder.head, other), { force: true });
}

/** Replaces the head. @throws WorkspaceError `EHEADMOVED` when another process replaced it first */
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
