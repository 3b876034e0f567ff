import type { Diff } from '@holdpoint/contract/wire';
import type { Colors } from './colors.ts';
import { leftOutText } from './left-out-text.ts';
import { nameText } from './name-text.ts';
import { plain } from './plain.ts';
import { table } from './table.ts';

/** One line per file, the sum, and what is left out. */
export function diffStat(diff: Diff, colors: Colors): string[] {
  const leftOut = leftOutText(diff.left_out, colors);
  if (diff.files.length === 0) return ['no changes', ...leftOut];
  const rows = diff.files.map((file) => [
    file.status,
    nameText(file.path),
    file.binary ? 'binary' : `${colors.green(`+${file.additions}`)} ${colors.red(`-${file.deletions}`)}`,
  ]);
  const files = diff.files.length === 1 ? '1 file' : `${diff.files.length} files`;
  const [, ...lines] = table(['', '', ''], rows);
  return [...lines, `${files}, +${diff.additions} -${diff.deletions}`, ...leftOut];
}

/** A patch that is safe for a terminal, with coloured lines. */
export function patchLines(patch: string, colors: Colors): string[] {
  return patch
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => paint(line, colors)(plain(line)));
}

function paint(line: string, colors: Colors): (text: string) => string {
  if (line.startsWith('+++') || line.startsWith('---') || line.startsWith('diff ')) return colors.bold;
  if (line.startsWith('@@')) return colors.cyan;
  if (line.startsWith('+')) return colors.green;
  if (line.startsWith('-')) return colors.red;
  return (text) => text;
}
