import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConflictHunk, ConflictLines, FileVersion, LostLines } from '@holdpoint/contract';
import { type Call, type Deps, WorkspaceError } from '../../deps.ts';
import { createYielder } from '../../files/index.ts';
import { readHunks } from '../../host-git/read-hunks.ts';
import { requireRecord, runFolder } from '../../run-folder/index.ts';
import { canonicalMode, type Leaf } from '../../store/objects/index.ts';
import { withBorrowedShadow } from '../publish.ts';
import { applyChoices, bothHave, type Versions, versionsDigest, withPieces } from './conflict-lines.ts';
import { type BothHave, emptyFile, mapThree, versionsOf, withVersions } from './merge-folders.ts';
import { countLines, type Hunk, isHunk, type MergedPiece } from './split-merge.ts';

/** A page of the conflicting hunks of a file. */
export interface Page {
  /** Number of the first hunk. */
  from: number;
  limit: number;
}

/** Text of a page, bytes. */
const pageBytes = 512 * 1024;
/** Text of a hunk's side, bytes. */
const sideBytes = 4 * 1024 * 1024;
/** Lines around a hunk. */
const contextLines = 3;
/** A line of the context is cut after this many bytes. */
const contextBytes = 4096;
/** Lines and bytes of the edits reverted by a choice of a whole file. */
const mostLost = { lines: 2000, bytes: 256 * 1024 };

/** Shows a file in conflict by lines, however large, and the edits reverted by a choice of a side's file. */
export async function viewConflict(
  deps: Pick<Deps, 'git'>,
  { gitDir, versions, page }: { gitDir: string; versions: Versions; page: Page },
): Promise<ConflictLines> {
  const digest = versionsDigest(versions);
  const merged = await withPieces(deps, { gitDir, versions }, async (pieces, folder) => ({
    ...pageOf(hunksOf(pieces), page),
    reverts: {
      run: await lostBy(deps, { folder, pieces, versions, side: 'run' }),
      source: await lostBy(deps, { folder, pieces, versions, side: 'source' }),
    },
  }));
  if (merged !== undefined) return { digest, ...merged };
  return { digest, hunks: 0, data: [], next: null, reverts: await lostByDeletion(deps, gitDir, versions) };
}

interface PlacedHunk extends Hunk {
  number: number;
  line: number;
  before: MergedPiece | undefined;
  after: MergedPiece | undefined;
}

function hunksOf(pieces: readonly MergedPiece[]): PlacedHunk[] {
  const hunks: PlacedHunk[] = [];
  let line = 1;
  for (const [at, piece] of pieces.entries()) {
    if (isHunk(piece)) {
      hunks.push({ ...piece, number: hunks.length + 1, line, before: pieces[at - 1], after: pieces[at + 1] });
    }
    line += countLines(isHunk(piece) ? piece.sourceLines : piece);
  }
  return hunks;
}

function pageOf(hunks: readonly PlacedHunk[], { from, limit }: Page): Pick<ConflictLines, 'hunks' | 'data' | 'next'> {
  const data: ConflictHunk[] = [];
  let left = pageBytes;
  for (const hunk of hunks.slice(from - 1, from - 1 + limit)) {
    left -= hunk.source.length + hunk.run.length;
    if (left < 0 && data.length > 0) break;
    data.push(shown(hunk));
  }
  const next = from + data.length;
  return { hunks: hunks.length, data, next: data.length > 0 && next <= hunks.length ? next : null };
}

const shown = ({ number, line, before, source, run, after }: PlacedHunk): ConflictHunk => ({
  hunk: number,
  line,
  before: Buffer.isBuffer(before) ? lastLines(before) : '',
  source: sideOf(source),
  run: sideOf(run),
  after: Buffer.isBuffer(after) ? firstLines(after) : '',
});

const sideOf = (text: Buffer): ConflictHunk['source'] => ({
  text: text.toString('utf8', 0, sideBytes),
  lines: countLines(text),
  bytes: text.length,
  cut: text.length > sideBytes,
});

const newline = 0x0a;

function lastLines(text: Buffer): string {
  let start = text.length;
  for (let left = contextLines; left > 0 && start > 0; left--) {
    start = start < 2 ? 0 : text.lastIndexOf(newline, start - 2) + 1;
  }
  return text.toString('utf8', Math.max(start, text.length - contextBytes));
}

function firstLines(text: Buffer): string {
  let end = 0;
  for (let left = contextLines; left > 0 && end < text.length; left--) {
    const at = text.indexOf(newline, end);
    end = at === -1 ? text.length : at + 1;
  }
  return text.toString('utf8', 0, Math.min(end, contextBytes));
}

/** The edits of the other side kept by a merge by lines and missing in the whole file of this side. */
async function lostBy(
  deps: Pick<Deps, 'git'>,
  input: { folder: string; pieces: readonly MergedPiece[]; versions: Versions; side: 'run' | 'source' },
): Promise<LostLines> {
  const { folder, pieces, versions, side } = input;
  const merged = applyChoices(pieces, { take: `${side}_lines` });
  await writeFile(join(folder, 'merged'), merged ?? '');
  return diffFiles(deps, folder, 'merged', versions[side]?.oid ?? emptyFile);
}

/** A side deleted the file: a choice of this side reverts every edit of the other side. */
async function lostByDeletion(
  deps: Pick<Deps, 'git'>,
  gitDir: string,
  { base, source, run }: Versions,
): Promise<ConflictLines['reverts']> {
  const edited = source ?? run;
  if (base === null || edited === null || (source !== null && run !== null)) return { run: null, source: null };
  const file: BothHave = { base, source: edited, run: edited };
  if (!bothHave(file)) return { run: null, source: null };
  const nothing: LostLines = { additions: 0, deletions: 0, hunks: [], omitted: false };
  const lost = await withVersions(deps, { gitDir, files: [file] }, async (folder, isFit) => {
    const [name, before = emptyFile] = versionsOf(file);
    return isFit(file) ? diffFiles(deps, folder, name, before) : null;
  });
  return source === null ? { run: nothing, source: lost } : { run: lost, source: nothing };
}

async function diffFiles(deps: Pick<Deps, 'git'>, folder: string, from: string, to: string): Promise<LostLines> {
  const shape = ['--no-index', '--no-ext-diff', '--no-textconv', '--no-color', '--no-renames', '--text', '-U1'];
  const { stdout } = await deps.git.run(['diff', ...shape, '--', from, to], {
    ...{ cwd: folder, accept: [0, 1], maxBytes: 512 * 1024 * 1024 },
  });
  const { additions, deletions, hunks, omitted } = await readHunks(
    [stdout],
    { budget: { ...mostLost }, isAlone: false },
    createYielder(),
  );
  return { additions, deletions, hunks, omitted };
}

/** Shows a file in conflict by lines. Writes nothing into the folder of the run. */
export async function readConflict(
  deps: Deps,
  { runId, versions: shown, page }: Call<'conflict'>,
): Promise<ConflictLines> {
  const folder = runFolder(deps.dataDir, runId);
  requireRecord(folder);
  const versions = mapThree<FileVersion | null, Leaf | null>(shown, toLeaf);
  const oids = [versions.base, versions.source, versions.run].flatMap((leaf) => leaf?.oid ?? []);
  return withBorrowedShadow(deps, folder, async (_, { shadow: gitDir }) => {
    await assertKept(deps, gitDir, oids);
    return viewConflict(deps, { gitDir, versions, page });
  });
}

const toLeaf = (version: FileVersion | null): Leaf | null =>
  version && { mode: canonicalMode(version.mode), oid: version.oid };

async function assertKept(deps: Deps, gitDir: string, oids: readonly string[]): Promise<void> {
  const args = [`--git-dir=${gitDir}`, 'cat-file', '--batch-check=%(objecttype)'];
  const { stdout } = await deps.git.run(args, { input: `${oids.join('\n')}\n` });
  const isKept = stdout
    .toString('latin1')
    .trim()
    .split('\n')
    .every((type) => type === 'blob');
  if (!isKept) throw new WorkspaceError('ECONFLICTGONE', 'The versions of this conflict are no longer kept.');
}
