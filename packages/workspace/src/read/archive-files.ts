import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { type Call, type Deps, WorkspaceError } from '../deps.ts';
import { removeFolder, writeDurably } from '../files/index.ts';
import { type RunFolder, requireRecord, runFolder } from '../run-folder/index.ts';
import { createObjectWriter, emptyFolder, type Folder, find, isLeaf, withEntry } from '../store/objects/index.ts';
import { shadowAttributes } from '../store/shadow.ts';
import { assertSnapshot, knownRoot, loadSnapshot } from '../tree/index.ts';
import { assertPortable } from './assert-portable.ts';
import { checkedPath, lazyOutput, manifestOf, type Producer } from './files.ts';

/** Files of a snapshot as an archive, with the date of the snapshot. git produces the archive during the read. */
export async function archiveFiles(deps: Deps, input: Call<'archive'>): Promise<Readable> {
  const folder = runFolder(deps.dataDir, input.runId);
  const { created_at: seconds } = requireRecord(folder);
  assertSnapshot(folder, input.snapshot);
  await switchAttributesOff(folder);
  const { skipped } = await manifestOf(deps, input);
  const isWhole = input.paths === undefined && skipped.size === 0;
  if (isWhole && input.format !== 'zip') {
    return lazyOutput(() => start(deps, { folder, input, commit: input.snapshot }));
  }
  const state = deps.states.of(folder);
  const known = knownRoot(await loadSnapshot(deps, { folder, state, id: input.snapshot }));
  const part = input.paths === undefined ? known : onlyPaths(known, input.paths);
  if (input.format === 'zip') await assertPortable(deps, folder, part);
  if (isWhole) return lazyOutput(() => start(deps, { folder, input, commit: input.snapshot }));
  return lazyOutput(() => startPart(deps, { folder, input, part, seconds }));
}

/** Attributes of the tree could leave files out or change their content. Repositories of earlier versions lack this file. */
async function switchAttributesOff(folder: RunFolder): Promise<void> {
  const path = join(folder.shadow, 'info', 'attributes');
  if (readFileSync(path, 'utf8') !== shadowAttributes) await writeDurably(path, shadowAttributes, 0o644);
}

function onlyPaths(root: Folder, paths: readonly string[]): Folder {
  let result = emptyFolder();
  for (const path of paths) {
    const names = checkedPath(path).split('/');
    const entry = find(root, names);
    if (!isLeaf(entry)) throw new WorkspaceError('EPATHMISSING', `The snapshot has no file ${JSON.stringify(path)}.`);
    result = withEntry(result, names, entry);
  }
  return result;
}

function start(
  deps: Deps,
  { folder, input, commit, objects }: { folder: RunFolder; input: Call<'archive'>; commit: string; objects?: string },
): Producer {
  const format = input.format === 'zip' ? 'zip' : 'tar';
  const shadow = join(folder.shadow, 'objects');
  const git = deps.git.stream(
    [`--git-dir=${folder.shadow}`, '-c', 'tar.umask=0022', 'archive', `--format=${format}`, commit],
    { env: objects === undefined ? {} : { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: shadow } },
  );
  git.stdin.on('error', () => {});
  git.stdin.end();
  if (input.format === 'zip') return git;
  const packed = createGzip();
  git.stdout.on('error', (error) => packed.destroy(error));
  const kill = () => {
    git.kill();
    packed.destroy();
  };
  return { stdout: git.stdout.pipe(packed), done: git.done, kill };
}

/** The tree and commit of a part are temporary: they are in their own folder while the archive is read. */
async function startPart(
  deps: Deps,
  { folder, input, part, seconds }: { folder: RunFolder; input: Call<'archive'>; part: Folder; seconds: number },
): Promise<Producer> {
  const temporary = join(deps.dataDir, 'git', `tmp-${randomBytes(8).toString('hex')}`);
  const objects = join(temporary, 'objects');
  const remove = () => removeFolder(temporary);
  try {
    mkdirSync(join(objects, 'pack'), { recursive: true, mode: 0o700 });
    const writer = createObjectWriter({ gitDir: temporary, known: new Set() });
    const commit = writer.commit({ tree: await writer.root(part), parent: null, seconds, message: 'part' });
    await writer.flush();
    const source = start(deps, { folder, input, commit, objects });
    return { ...source, done: source.done.finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}
