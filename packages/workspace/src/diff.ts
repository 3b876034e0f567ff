import type { FileDiff } from '@holdpoint/contract';
import type { Deps, DiffRequest, Workspaces } from './deps.ts';
import { createYielder, toText, type Yielder } from './files/index.ts';
import { diffTree, type RawDiff } from './host-git/diff-tree.ts';
import { type HunkBudget, readHunks } from './host-git/read-hunks.ts';
import { reviewChanges } from './left-out/review.ts';

/**
 * The differences of two snapshots, for reading. Text that is not UTF-8 has replacement characters, a file above `limits.hunkBytes` is shown
 * as binary, and a very large change set has only its first hunks. `patch` is exact.
 */
export async function diffSnapshots(deps: Deps, request: DiffRequest): ReturnType<Workspaces['diff']> {
  using review = await reviewChanges(deps, request);
  const files = await diffTree(
    deps,
    { ...review, path: request.path },
    { flags: [], config: [`core.bigFileThreshold=${deps.limits.hunkBytes}`], maxBytes: deps.limits.diffBytes },
  );
  const maybeYield = createYielder();
  const budget = { ...mostShown };
  const shown: FileDiff[] = [];
  for (const file of files) {
    shown.push(await toFileDiff(file, budget, maybeYield));
    await maybeYield();
  }
  return { files: shown, left_out: review.left_out };
}

/** A person does not read more. The rest of a change set is available by path, and as a patch. */
const mostShown: HunkBudget = { lines: 100_000, bytes: 8 * 1024 * 1024 };

async function toFileDiff(file: RawDiff, budget: HunkBudget, maybeYield: Yielder): Promise<FileDiff> {
  const { omitted, ...read } = await readHunks(file.sections, budget, maybeYield);
  return {
    path: toText(file.path),
    status: file.status,
    old_mode: file.oldMode,
    new_mode: file.newMode,
    binary: file.sections.some((section) => /^Binary files /m.test(headOf(section))),
    ...read,
    omitted: omitted || undefined,
  };
}

function headOf(section: Buffer): string {
  const start = section.indexOf('\n@@ ');
  return section.toString('utf8', 0, start === -1 ? longestHead : start);
}

/** Room for two quoted paths of 4096 bytes and more lines. */
const longestHead = 64 * 1024;
