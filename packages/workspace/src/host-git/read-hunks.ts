import type { FileDiff } from '@holdpoint/contract';
import type { Yielder } from '../files/index.ts';

/** Remaining lines and bytes of hunks for an answer. */
export interface HunkBudget {
  lines: number;
  bytes: number;
}

type Hunks = Pick<FileDiff, 'additions' | 'deletions' | 'hunks' | 'cut'> & { omitted: boolean };

const [newlineByte = 0, atByte, plusByte, minusByte] = [...Buffer.from('\n@+-')];

/**
 * Reads the hunks of a file's sections and counts their lines. Hunks beyond the budget are counted and omitted. The function yields to the
 * event loop now and then: 5,000,000 lines are a second of work.
 * @param isAlone the answer has no other file: hunks are shown up to the budget, and the rest is counted in `cut`
 */
export async function readHunks(
  sections: readonly Buffer[],
  { budget, isAlone }: { budget: HunkBudget; isAlone: boolean },
  maybeYield: Yielder,
): Promise<Hunks> {
  const left = { ...budget };
  const hunks: FileDiff['hunks'] = [];
  let [additions, deletions, looked, cut] = [0, 0, 0, 0];
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
      if (cut > 0 || left.lines < 0 || left.bytes < 0) cut += 1;
      else {
        const line = section.toString('utf8', at, end);
        if (mark === atByte) hunks.push(headerOf(line));
        else hunks.at(-1)?.lines.push(line);
      }
      at = end + 1;
      if (++looked % 1000 === 0) await maybeYield();
    }
  }
  if (cut === 0) Object.assign(budget, left);
  if (cut > 0 && !isAlone) return { additions, deletions, hunks: [], omitted: true };
  return { additions, deletions, hunks, cut: cut === 0 ? undefined : cut, omitted: false };
}

/** `@@ -1,2 +3,4 @@`; git omits a count of 1. */
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
