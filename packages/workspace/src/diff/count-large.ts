import type { Deps } from '../deps.ts';
import type { CountedDiff, RawDiff } from '../host-git/diff-tree.ts';
import { blobSizes, streamBlobs } from '../host-git/stream-blobs.ts';

/** The changed lines of a file too large for a diff; `uncounted`: its content was not looked at. */
export type LargeFile = { additions: number; deletions: number } | 'uncounted';

/** Bytes of all large files of a diff together: git compares about 100 MB a second. */
const mostBytes = 512 * 1024 * 1024;
/** git inspects as many bytes to detect a binary file. */
const inspectedBytes = 8000;
const newline = 0x0a;

/**
 * Counts the changed lines of text files over `limits.hunkBytes`, called binary by git for their size. A binary file is not in the result.
 */
export async function countLarge<File extends RawDiff>(
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
export async function countKindChanges(
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
