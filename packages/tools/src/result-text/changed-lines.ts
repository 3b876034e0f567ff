import { parsePatch, type StructuredPatch, type StructuredPatchHunk } from 'diff';
import { fileText } from './shown-text.ts';

/** What a model cannot know from its own call: where its change stands in the file now, and what stands beside it. */
interface ChangedLines {
  /** The lines at both ends of each change and the line beside each end, with their numbers. `…` stands for the lines between. */
  text: string;
  /** The numbers of the new lines, such as `4, 10-12`. */
  ranges: string;
  hasFinalNewline: boolean;
}

/** The changes of each file of a unified diff, by path; undefined for a text that is no whole diff. */
export function changedLines(diff: string): Map<string, ChangedLines> | undefined {
  try {
    return new Map(parsePatch(diff).map((file) => [pathOf(file), changesOf(file.hunks)]));
  } catch {
    return undefined;
  }
}

const pathOf = ({ newFileName = '' }: StructuredPatch): string => newFileName.replace(/^b\//, '');

function changesOf(hunks: readonly StructuredPatchHunk[]): ChangedLines {
  const lines = hunks.flatMap(newSide);
  const shown = lines.filter(({ isShown }) => isShown);
  const text = shown.flatMap(({ number, text }, at) => {
    const before = shown[at - 1];
    return [...(before !== undefined && number > before.number + 1 ? ['…'] : []), `${number}\t${text}`];
  });
  const [last, mark] = hunks.at(-1)?.lines.slice(-2) ?? [];
  return {
    text: text.join('\n'),
    ranges: rangesOf(lines.flatMap(({ number, isNew }) => (isNew ? [number] : []))),
    hasFinalNewline: !(mark?.startsWith('\\') && !last?.startsWith('-')),
  };
}

interface NewLine {
  number: number;
  text: string;
  isNew: boolean;
  isShown: boolean;
}

/** The removed lines are left out: the caller knows them. */
function newSide({ lines, newStart }: StructuredPatchHunk): NewLine[] {
  const marked = lines.filter((line) => !line.startsWith('\\'));
  const markAt = (at: number): string => marked[at]?.[0] ?? ' ';
  let number = newStart;
  let sinceOld = 0;
  return marked.flatMap((line, at) => {
    if (line.startsWith('-')) return [];
    const isNew = line.startsWith('+');
    sinceOld = isNew ? sinceOld + 1 : 0;
    const isShown = isNew
      ? sinceOld === 1 || markAt(at + 1) !== '+' || isShort(marked, at - sinceOld + 1)
      : markAt(at - 1) !== ' ' || markAt(at + 1) !== ' ';
    return [{ number: number++, text: fileText(line.slice(1).replace(/\r$/, '')), isNew, isShown }];
  });
}

/** New lines in a row that are shown whole. */
const mostWhole = 3;
const isShort = (marked: readonly string[], first: number): boolean =>
  marked.slice(first, first + mostWhole + 1).some((line, at) => at > 0 && !line.startsWith('+')) ||
  marked.length <= first + mostWhole;

/** `4, 10-12` */
function rangesOf(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(', ');
}
