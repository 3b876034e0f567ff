import type { FileDiff } from '@holdpoint/contract';
import type { Deps, DiffRequest, Workspaces } from './deps.ts';
import { createYielder, toText, type Yielder } from './files/index.ts';
import { diffTree, type RawDiff } from './host-git/diff-tree.ts';
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

/** Remaining lines and bytes of hunks for one answer. */
interface HunkBudget {
  lines: number;
  bytes: number;
}

type Hunks = Pick<FileDiff, 'additions' | 'deletions' | 'hunks'> & { omitted: boolean };

const [newlineByte = 0, atByte, plusByte, minusByte] = [...Buffer.from('\n@+-')];

/**
 * Reads the hunks of a file's sections and counts their lines. Hunks beyond the budget are counted and omitted. It yields to the event loop
 * now and then: 5,000,000 lines are a second of work.
 */
async function readHunks(sections: readonly Buffer[], budget: HunkBudget, maybeYield: Yielder): Promise<Hunks> {
  const left = { ...budget };
  const hunks: FileDiff['hunks'] = [];
  let [additions, deletions, looked] = [0, 0, 0];
  let omitted = false;
  for (const section of sections) {
    const start = section.indexOf('\n@@ ');
    if (start === -1) continue;
    for (let at = start + 1; at < section.length; ) {
      const newline = section.indexOf(newlineByte, at);
      const end = newline === -1 ? section.length : newline;
      const mark = section[at];
      if (mark === plusByte) additions += 1;
      if (mark === minusByte) deletions += 1;
      left.lines -= 1;
      left.bytes -= end - at;
      if (left.lines < 0 || left.bytes < 0) omitted = true;
      if (!omitted) {
        const line = section.toString('utf8', at, end);
        if (mark === atByte) hunks.push(headerOf(line));
        else hunks.at(-1)?.lines.push(line);
      }
      at = end + 1;
      if (++looked % 1000 === 0) await maybeYield();
    }
  }
  if (!omitted) Object.assign(budget, left);
  return { additions, deletions, hunks: omitted ? [] : hunks, omitted };
}

/** `@@ -1,2 +3,4 @@`; git omits a count of one. */
function headerOf(line: string): FileDiff['hunks'][number] {
  const [, oldStart = '0', oldLines = '1', newStart = '0', newLines = '1'] =
    /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
  return {
    old_start: Number(oldStart),
    old_lines: Number(oldLines),
    new_start: Number(newStart),
    new_lines: Number(newLines),
    lines: [],
  };
}
