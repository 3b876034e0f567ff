import type { LongResult } from '@holdpoint/contract';

/** The parts of a long result. The note names their lines, so no line of the content can imitate a gap. */
export const partsOf = ({ parts }: LongResult): string => parts.map(({ text }) => text).join('\n[…]\n');

/** Says which lines of a long result are shown, and where all of them are. */
export function longNote(long: LongResult): string {
  const { path, bytes, lines, parts, failures, stderr_line, folded, dropped } = long;
  const ranges = parts.map(({ line, text }) => `${line}-${line + text.split('\n').length - 1}`);
  const sentences = [
    `Holdpoint shows lines ${ranges.join(', ')} of ${lines} (${bytes} bytes)${failures ? ', among them the first failures' : ''}.`,
    ...(stderr_line === undefined ? [] : [`Stderr begins at line ${stderr_line}.`]),
    ...(folded ? ['Long lines are broken into several.'] : []),
    ...(dropped === undefined ? [] : [`${dropped} bytes in the middle of the output were not kept.`]),
    path === undefined
      ? 'The rest could not be kept: where you need it, make the call again with less output.'
      : `All of it is in ${path}: read that file in parts, or search in it.`,
  ];
  return `[${sentences.join(' ')}]`;
}
