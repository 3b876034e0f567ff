import type { FileCounts, FileDiff } from '@holdpoint/contract';
import type { Deps, DiffRequest, Workspaces } from '../deps.ts';
import { createYielder, toText, type Yielder } from '../files/index.ts';
import { changedPaths } from '../host-git/changed-paths.ts';
import { type CountedDiff, diffCounts, diffTree, type RawDiff, type Renames } from '../host-git/diff-tree.ts';
import { type HunkBudget, readHunks } from '../host-git/read-hunks.ts';
import { blobSizes, streamBlobs } from '../host-git/stream-blobs.ts';
import { despiteDamage, withUnreadable } from './patch.ts';
import { type Review, reviewChanges } from './review.ts';

/** The changed lines of a file too large for a diff; `uncounted`: its content was not looked at. */
type LargeFile = { additions: number; deletions: number } | 'uncounted';

/** Bytes of all large files of a diff together: git compares about 100 MB a second. */
const mostBytes = 512 * 1024 * 1024;
/** git inspects as many bytes to detect a binary file. */
const inspectedBytes = 8000;
const newline = 0x0a;

/**
 * Counts the changed lines of text files over `limits.hunkBytes`, called binary by git for their size. A binary file is not in the result.
 */
async function countLarge<File extends RawDiff>(
  deps: Pick<Deps, 'git' | 'limits'>,
  { gitDir, files }: { gitDir: string; files: readonly File[] },
): Promise<Map<File, LargeFile>> {
  const counted = new Map<File, LargeFile>();
  if (files.length === 0) return counted;
  const sizes = await blobSizes(deps, { gitDir, oids: files.flatMap(idsOf) });
  let left = mostBytes;
  for (const file of files) {
    const bytes = idsOf(file).map((oid) => sizes.get(oid) ?? 0);
    if (!bytes.some((size) => size > deps.limits.hunkBytes)) continue;
    left -= bytes.reduce((sum, size) => sum + size, 0);
    const isLarger = bytes.some((size) => size > deps.limits.diffBytes);
    const lines = isLarger || left < 0 ? 'uncounted' : await countLines(deps, gitDir, file);
    if (lines !== undefined) counted.set(file, lines);
  }
  return counted;
}

/** A file that became a link, or the reverse, counts as deleted and created, as in a patch: git's own count compares the two texts. */
async function countKindChanges(
  deps: Pick<Deps, 'git' | 'limits'>,
  { gitDir, files }: { gitDir: string; files: readonly CountedDiff[] },
): Promise<CountedDiff[]> {
  const changed = files.filter(({ changedKind }) => changedKind);
  if (changed.length === 0) return [...files];
  const sizes = await blobSizes(deps, { gitDir, oids: changed.flatMap(idsOf) });
  const lines = async (oid: string | null) =>
    oid !== null && (sizes.get(oid) ?? 0) > deps.limits.hunkBytes ? undefined : linesIn(deps, gitDir, oid);
  const counted = new Map<CountedDiff, CountedDiff>();
  for (const file of changed) {
    const [deletions, additions] = [await lines(file.oldId), await lines(file.newId)];
    const binary = deletions === undefined || additions === undefined;
    counted.set(file, { ...file, binary, deletions: deletions ?? 0, additions: additions ?? 0 });
  }
  return files.map((file) => counted.get(file) ?? file);
}

const idsOf = ({ oldId, newId }: RawDiff): string[] => [oldId, newId].filter((oid) => oid !== null);

/** @returns undefined for a binary file */
async function countLines(deps: Pick<Deps, 'git'>, gitDir: string, file: RawDiff): Promise<LargeFile | undefined> {
  const { oldId, newId, changedKind } = file;
  if (oldId !== null && newId !== null && !changedKind) {
    const args = [`--git-dir=${gitDir}`, 'diff', '--numstat', '--no-ext-diff', '--no-textconv', oldId, newId];
    const [additions = '-', deletions = '-'] = String((await deps.git.run(args)).stdout).split('\t');
    return additions === '-' ? undefined : { additions: Number(additions), deletions: Number(deletions) };
  }
  const [deletions, additions] = [await linesIn(deps, gitDir, oldId), await linesIn(deps, gitDir, newId)];
  return additions === undefined || deletions === undefined ? undefined : { additions, deletions };
}

/** The lines of a file; undefined for a binary file. */
async function linesIn(deps: Pick<Deps, 'git'>, gitDir: string, oid: string | null): Promise<number | undefined> {
  if (oid === null) return 0;
  let [lines, seen, last, isBinary] = [0, 0, newline, false];
  await streamBlobs(
    deps,
    { gitDir, oids: [oid] },
    {
      begin: () => {},
      piece: (bytes) => {
        if (bytes.subarray(0, Math.max(inspectedBytes - seen, 0)).includes(0)) isBinary = true;
        seen += bytes.length;
        last = bytes.at(-1) ?? last;
        for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) lines += 1;
      },
      end: () => {},
    },
  );
  return isBinary ? undefined : lines + (last === newline ? 0 : 1);
}

/**
 * The differences of two snapshots, for reading. A moved file is a single entry, text outside of UTF-8 has replacement characters, for a
 * file above `limits.hunkBytes` only the lines are counted, and a very large change set has only its first hunks. A file with a lost or
 * damaged object is named with the reason, beside the others. `patch` is exact.
 */
export const diffSnapshots = (deps: Deps, request: DiffRequest): ReturnType<Workspaces['diff']> =>
  despiteDamage(deps, request, (damaged) => diffReadable(deps, request, damaged));

async function diffReadable(
  deps: Deps,
  request: DiffRequest,
  damaged: ReadonlySet<string>,
): ReturnType<Workspaces['diff']> {
  using review = await reviewChanges(deps, request, damaged);
  const files = await diffTree(
    deps,
    { ...review, path: request.path },
    {
      ...{ flags: [], config: [`core.bigFileThreshold=${deps.limits.hunkBytes}`], maxBytes: deps.limits.diffBytes },
      renames: await renamesFor(deps, review, request),
    },
  );
  const large = await countLarge(deps, { gitDir: review.folder.shadow, files: files.filter(isBinary) });
  const maybeYield = createYielder();
  const budget = { ...mostShown };
  const shown: FileDiff[] = [];
  for (const file of files) {
    shown.push(withLarge(await toFileDiff(file, { budget, isAlone: files.length === 1 }, maybeYield), large.get(file)));
    await maybeYield();
  }
  return { files: withUnreadable(shown, review.unreadable, (file) => file), left_out: review.left_out };
}

/** A person does not read more. The rest of a change set is available by path, and as a patch. */
const mostShown: HunkBudget = { lines: 100_000, bytes: 8 * 1024 * 1024 };

async function toFileDiff(
  file: RawDiff,
  within: { budget: HunkBudget; isAlone: boolean },
  maybeYield: Yielder,
): Promise<FileDiff> {
  const { omitted, ...read } = await readHunks(file.sections, within, maybeYield);
  return {
    ...headOfFile(file),
    binary: isBinary(file),
    ...read,
    omitted: omitted || undefined,
  };
}

/** The same without the lines, so without a bound on the size of the change set. */
export const statSnapshots = (deps: Deps, request: DiffRequest): ReturnType<Workspaces['diffStat']> =>
  despiteDamage(deps, request, async (damaged) => {
    using review = await reviewChanges(deps, request, damaged);
    const counted = await diffCounts(
      deps,
      { ...review, path: request.path },
      {
        ...{ config: [`core.bigFileThreshold=${deps.limits.hunkBytes}`], maxBytes: deps.limits.diffBytes },
        renames: await renamesFor(deps, review, request),
      },
    );
    const files = await countKindChanges(deps, { gitDir: review.folder.shadow, files: counted });
    const large = await countLarge(deps, { gitDir: review.folder.shadow, files: files.filter(({ binary }) => binary) });
    const shown = files.map((file): FileCounts => {
      const { binary, additions, deletions } = file;
      return withLarge({ ...headOfFile(file), binary, additions, deletions }, large.get(file));
    });
    return {
      files: withUnreadable(shown, review.unreadable, ({ hunks: _, ...file }) => file),
      left_out: review.left_out,
    };
  });

const headOfFile = (file: RawDiff): Pick<FileCounts, 'path' | 'status' | 'moved_from' | 'old_mode' | 'new_mode'> => ({
  path: toText(file.path),
  status: file.status,
  moved_from: file.movedFrom && toText(file.movedFrom),
  old_mode: file.oldMode,
  new_mode: file.newMode,
});

/** Added and deleted files of more bytes than this are not compared for similarity. */
const mostCompared = 256 * 1024 * 1024;

/** How to look for moved files: a comparison of many large files would take minutes. */
async function renamesFor(deps: Deps, review: Review, request: DiffRequest): Promise<Renames> {
  const { folder, changes: asked, unreadable } = review;
  // Without the unreadable version of a path, git would pair the files left over.
  if (unreadable.length > 0) return 'none';
  // A file below the path may have been elsewhere.
  const changes = request.path === undefined ? asked : await changedPaths(deps, { folder, ...request });
  const gone = changes.filter((change) => change.new === null).flatMap(({ old }) => old?.oid ?? []);
  const made = changes.filter((change) => change.old === null).flatMap((change) => change.new?.oid ?? []);
  if (gone.length === 0 || made.length === 0) return 'none';
  const oids = [...gone, ...made];
  const sizes = await blobSizes(deps, { gitDir: folder.shadow, oids });
  const bytes = oids.reduce((sum, oid) => sum + (sizes.get(oid) ?? 0), 0);
  return bytes > mostCompared ? 'exact' : 'similar';
}

/** Binary in the eyes of git. git calls a large file binary, too. */
const isBinary = ({ sections }: RawDiff): boolean =>
  sections.some((section) => /^Binary files /m.test(headOf(section)));

function withLarge<File extends FileCounts>(file: File, large: LargeFile | undefined): File {
  if (large === undefined) return file;
  return large === 'uncounted'
    ? { ...file, too_large: large }
    : { ...file, binary: false, too_large: 'counted', ...large };
}

function headOf(section: Buffer): string {
  const start = section.indexOf('\n@@ ');
  return section.toString('utf8', 0, start === -1 ? longestHead : start);
}

/** Room for two quoted paths of 4096 bytes and more lines. */
const longestHead = 64 * 1024;
