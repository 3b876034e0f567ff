import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { type Call, type Deps, errnoOf, type Owner } from '../deps.ts';
import { assertFreeSpace, linkFile, syncPath, writeDurably } from '../files/index.ts';
import { type RunFolder, requireRecord, runFolder } from '../run-folder/index.ts';

/** Bytes and files of a run's outputs together. The oldest files make place for a new one. */
const most = { bytes: 64 * 1024 * 1024, files: 1000 };
const oldestMs = 7 * 24 * 3_600_000;

/**
 * Keeps the whole text of a long result beside the run's tree. Sandboxes of the run see the folder read-only, and no snapshot has it. The
 * name has the digest of the content: a call that runs again after a crash writes the same file, and a reader notices flipped bytes.
 * @returns the name of the file
 */
export async function keepOutput(deps: Deps, { runId, label, text }: Call<'keepOutput'>): Promise<{ name: string }> {
  const folder = runFolder(deps.dataDir, runId);
  const content = Buffer.from(text);
  const digest = createHash('sha256').update(content).digest('hex');
  const name = `${label.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)}-${digest.slice(0, 12)}.txt`;
  openOutputs(deps, folder, requireRecord(folder).owner);
  const file = join(folder.outputs, name);
  if (isSame(file, content)) {
    const now = deps.now() / 1000;
    fs.utimesSync(file, now, now);
    return { name };
  }
  makePlace(deps, folder, content.length);
  assertFreeSpace(deps);
  await writeDurably(file, content, 0o444);
  // Another umask may have taken the right to read.
  fs.chmodSync(file, 0o444);
  return { name };
}

/** Creates the folder for an older run as well. Only the user of the run's commands may enter it. */
export function openOutputs(deps: Pick<Deps, 'isRoot'>, { outputs }: RunFolder, owner: Owner): string {
  if (isFolder(outputs)) return outputs;
  // A link or a file in its place: no program of Holdpoint makes one.
  fs.rmSync(outputs, { force: true });
  fs.mkdirSync(outputs, { recursive: true, mode: 0o750 });
  if (deps.isRoot) fs.chownSync(outputs, 0, owner.gid);
  fs.chmodSync(outputs, 0o750);
  return outputs;
}

/** A fork reads what its conversation names. The files are shared with the other run, and never change. */
export async function shareOutputs(deps: Deps, from: RunFolder, to: RunFolder, owner: Owner): Promise<void> {
  if (!isFolder(from.outputs)) return;
  openOutputs(deps, to, owner);
  for (const { name, path } of filesIn(from)) {
    await linkFile(path, join(to.outputs, name)).catch(unlessGone);
  }
  await syncPath(to.outputs);
}

const isFolder = (path: string): boolean => fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** A file with other bytes was damaged, and is replaced: the call was made again for it. */
function isSame(file: string, content: Buffer): boolean {
  const stats = fs.lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  if (stats.isFile() && stats.size === content.length && fs.readFileSync(file).equals(content)) return true;
  fs.rmSync(file, { force: true, recursive: true });
  return false;
}

function makePlace(deps: Deps, folder: RunFolder, bytes: number): void {
  const files = filesIn(folder).sort((one, other) => one.mtimeMs - other.mtimeMs);
  let total = files.reduce((sum, one) => sum + one.bytes, bytes);
  let count = files.length + 1;
  for (const { path, mtimeMs, bytes: freed } of files) {
    const isOld = deps.now() - mtimeMs > oldestMs;
    if (!isOld && total <= most.bytes && count <= most.files) return;
    fs.rmSync(path, { force: true });
    total -= freed;
    count -= 1;
  }
}

interface OutputFile {
  name: string;
  path: string;
  bytes: number;
  mtimeMs: number;
}

function filesIn({ outputs }: RunFolder): OutputFile[] {
  return fs.readdirSync(outputs).flatMap((name) => {
    const path = join(outputs, name);
    const stats = fs.statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ name, path, bytes: stats.size, mtimeMs: stats.mtimeMs }];
  });
}

/** The other run made place for a newer file. */
function unlessGone(error: unknown): void {
  if (errnoOf(error) !== 'ENOENT') throw error;
}
