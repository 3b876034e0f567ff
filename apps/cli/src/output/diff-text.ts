import type { Diff, PublishPlan } from '@holdpoint/contract/wire';
import { nameText, plain } from '@holdpoint/readable';
import type { Colors } from '../shell/index.ts';
import { fit, fold } from './fit.ts';
import { table } from './layout.ts';
import { counted, bytes as sizeText } from './units.ts';

/** One line per file, the sum, and what is left out. */
export function diffStat(diff: Diff, colors: Colors): string[] {
  const leftOut = leftOutText(diff.left_out, colors);
  if (diff.files.length === 0) return ['no changes', ...leftOut];
  const rows = diff.files.map((file) => [
    file.status,
    nameText(file.path),
    file.binary ? 'binary' : `${colors.green(`+${file.additions}`)} ${colors.red(`-${file.deletions}`)}`,
    modeText(file),
  ]);
  const files = counted(diff.files.length, 'file');
  const [, ...lines] = table(['', '', '', ''], rows);
  return [...lines, `${files}, +${diff.additions} -${diff.deletions}`, ...leftOut];
}

/** What a count of lines does not show. */
const modeText = ({ old_mode, new_mode }: Diff['files'][number]): string =>
  old_mode === null || new_mode === null || old_mode === new_mode ? '' : `mode ${old_mode} → ${new_mode}`;

/** A patch that is safe for a terminal, with coloured lines. */
export const patchLines = (patch: string, colors: Colors): string[] =>
  patch
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => paint(line, colors)(plain(line)));

/** The lines of a patch below its heads, each cut to `width` columns; of a long one the beginning and the end. */
export function foldedPatch(patch: string, { colors, width, note }: { colors: Colors; width: number; note: string }) {
  let isHead = /^@@/m.test(patch);
  const changes = patch
    .trimEnd()
    .split('\n')
    .filter((line) => {
      // Below `@@` a line that begins with `--- ` or `+++ ` is a change of a line with `-- ` or `++ `.
      if (line.startsWith('@@')) isHead = false;
      if (line.startsWith('diff ')) isHead = true;
      return !isHead;
    });
  const shown = changes.map((line) => paint(line, colors)(fit(plain(line), width)));
  return fold(shown, { head: 24, tail: 6, note });
}

function paint(line: string, colors: Colors): (text: string) => string {
  if (line.startsWith('+++') || line.startsWith('---') || line.startsWith('diff ')) return colors.bold;
  if (line.startsWith('@@')) return colors.cyan;
  if (line.startsWith('+')) return colors.green;
  if (line.startsWith('-')) return colors.red;
  return (text) => text;
}

type LeftOut = PublishPlan['left_out'][number];

/** Changes of the run that a publish leaves out, and why. Those that no publish can hold are red. */
export function leftOutText(list: readonly LeftOut[], colors: Colors): string[] {
  if (list.length === 0) return [];
  const rows = list.map(({ path, reason, files, bytes, modified_at = '' }) => [
    path === null ? '… more' : nameText(path),
    reason === 'ignored' || reason === 'excluded' || reason === 'prepared'
      ? reason
      : colors.red(`${reason}, content unknown`),
    counted(files, 'file'),
    sizeText(bytes),
    modified_at,
  ]);
  const [, ...lines] = table(['', '', '', '', ''], rows);
  return ['left out:', ...lines.map((line) => `  ${line}`)];
}
