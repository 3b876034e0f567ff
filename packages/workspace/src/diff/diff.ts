import type { FileCounts, FileDiff } from '@holdpoint/contract';
import type { Deps, DiffRequest, Workspaces } from '../deps.ts';
import { createYielder, toText, type Yielder } from '../files/index.ts';
import { changedPaths } from '../host-git/changed-paths.ts';
import { diffCounts, diffTree, type RawDiff, type Renames } from '../host-git/diff-tree.ts';
import { type HunkBudget, readHunks } from '../host-git/read-hunks.ts';
import { blobSizes } from '../host-git/stream-blobs.ts';
import { countKindChanges, countLarge, type LargeFile } from './count-large.ts';
import { type Review, reviewChanges } from './review.ts';
import { despiteDamage, withUnreadable } from './unreadable.ts';

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
