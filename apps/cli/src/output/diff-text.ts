import type { ConflictHunk, LostLines } from '@holdpoint/contract';
import type { ConflictView, Diff, DiffStat, PublishPlan } from '@holdpoint/contract/wire';
import { nameText, oneLine, plain } from '@holdpoint/readable';
import type { Colors } from '../shell/index.ts';
import { fit, fold, table } from './layout.ts';
import { counted, bytes as sizeText } from './units.ts';

/** A line per file, the sum, and the left-out files. */
export function diffStat(diff: DiffStat, colors: Colors): string[] {
  const leftOut = leftOutText(diff.left_out, colors);
  if (diff.files.length === 0) return ['no changes', ...leftOut];
  const rows = diff.files.map((file) => [
    statusText(file),
    pathText(file),
    countText(file, colors),
    [modeText(file), file.too_large === 'counted' ? 'too large to be shown' : '', lostText(file, colors)]
      .filter(Boolean)
      .join(', '),
  ]);
  const files = counted(diff.files.length, 'file');
  const [, ...lines] = table(['', '', '', ''], rows);
  return [...lines, `${files}, +${diff.additions} -${diff.deletions}`, ...leftOut];
}

type FileDiff = Diff['files'][number];
type FileStat = DiffStat['files'][number];

const statusText = ({ status, moved_from }: FileStat): string => (moved_from === undefined ? status : 'moved');

const pathText = ({ path, moved_from }: FileStat): string =>
  moved_from === undefined ? nameText(path) : `${nameText(moved_from)} → ${nameText(path)}`;

function countText({ binary, unreadable, too_large, additions, deletions }: FileStat, colors: Colors): string {
  if (unreadable !== undefined) return 'unreadable';
  if (too_large === 'uncounted') return 'too large';
  return binary ? 'binary' : `${colors.green(`+${additions}`)} ${colors.red(`-${deletions}`)}`;
}

/** A diff for a person to read: a moved file shows its edit alone. `git apply` takes the patch instead. */
export const diffText = ({ files }: Diff, colors: Colors): string[] =>
  files.flatMap((file) => [
    colors.bold([statusText(file), pathText(file), modeText(file)].filter(Boolean).join(' ')),
    ...hunkLines(file).map((line) => paint(line, colors)(plain(line))),
    ...noteText(file, colors),
  ]);

const hunkLines = ({ hunks }: FileDiff): string[] =>
  hunks.flatMap(({ old_start, old_lines, new_start, new_lines, lines }) => [
    `@@ -${old_start},${old_lines} +${new_start},${new_lines} @@`,
    ...lines,
  ]);

/** The damage of a file in the store, with the next step. */
const lostText = ({ unreadable }: FileStat, colors: Colors): string =>
  unreadable === undefined ? '' : colors.red(oneLine([unreadable.message, unreadable.next].filter(Boolean).join(' ')));

/** The note in place of the lines. */
function noteText(file: FileDiff, colors: Colors): string[] {
  const { binary, unreadable, too_large, omitted, cut, additions, deletions } = file;
  if (unreadable !== undefined) return [`(${lostText(file, colors)})`];
  if (too_large === 'uncounted') return ['(too large: its content was not looked at)'];
  if (binary) return ['(binary)'];
  const counts = `+${additions} -${deletions}`;
  if (too_large !== undefined) return [`(too large to be shown: ${counts}; --patch has it)`];
  if (cut !== undefined) return [`(${cut} more lines are not shown: ${counts}; --patch has them)`];
  return omitted ? [`(too long to be shown with the others: ${counts}; name its path, or --patch)`] : [];
}

/** The change invisible in a count of lines. */
const modeText = ({ old_mode, new_mode }: FileStat): string =>
  old_mode === null || new_mode === null || old_mode === new_mode ? '' : `mode ${old_mode} → ${new_mode}`;

/** A patch safe for a terminal, with coloured lines. */
export const patchLines = (patch: string, colors: Colors): string[] =>
  patch
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => paint(line, colors)(plain(line)));

/** The lines of a patch below its heads, each cut to `width` columns; of a long patch the beginning and the end. */
export function foldedPatch(patch: string, { colors, width, note }: { colors: Colors; width: number; note: string }) {
  let isHead = /^@@/m.test(patch);
  const changes = patch
    .trimEnd()
    .split('\n')
    .filter((line) => {
      // Below `@@` a line with `--- ` or `+++ ` at its start is a change of a line with `-- ` or `++ `.
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

/** Changes of the run left out of a publish, with the reason. Changes impossible for every publish are red. */
export function leftOutText(list: readonly LeftOut[], colors: Colors): string[] {
  if (list.length === 0) return [];
  const rows = list.map(({ path, reason, files, bytes, modified_at = '' }) => [
    path === null ? '… more' : nameText(path),
    reason === 'ignored' || reason === 'excluded' || reason === 'prepared'
      ? reason
      : colors.red(reason === 'submodule' ? 'submodule, not published' : `${reason}, content unknown`),
    counted(files, 'file'),
    sizeText(bytes),
    modified_at,
  ]);
  const [, ...lines] = table(['', '', '', '', ''], rows);
  return ['left out:', ...lines.map((line) => `  ${line}`)];
}

/** A file in conflict by lines: its hunks, and the changes reverted by a choice of a whole file. */
export function conflictText(view: ConflictView, colors: Colors): string[] {
  const { path, hunks, data, reverts } = view;
  return [
    ...(hunks === 0 ? [] : ['', `${colors.bold(nameText(path))}: ${counted(hunks, 'conflicting hunk')}`]),
    ...data.flatMap((hunk) => hunkText(hunk, hunks, colors)),
    ...(reverts.run === null && reverts.source === null ? [] : ['', colors.bold(`${nameText(path)}, as a whole file`)]),
    ...revertsText('run', reverts.run, colors),
    ...revertsText('source', reverts.source, colors),
  ];
}

/** The lines of both sides, with the surrounding lines. */
export function hunkText(hunk: ConflictHunk, hunks: number, colors: Colors): string[] {
  const { before, after, source, run } = hunk;
  // A carriage return is shown where some lines lack the character.
  const isCrlf = ![before, source.text, run.text, after].some((text) => /(^|[^\r])\n/.test(text));
  const lines = (text: string) => textLines(isCrlf ? text.replaceAll('\r\n', '\n') : text);
  const side = (name: string, of: ConflictHunk['run'], paint: (text: string) => string) => {
    const shown = of.lines === 0 ? [colors.dim('(no lines)')] : lines(of.text).map(paint);
    const folded = fold(shown, { head: 80, tail: 20, note: ' (--json has them)' });
    const cut = of.cut ? [`… only the beginning of ${of.bytes} bytes`] : [];
    return [...folded, ...cut].map((line) => `  ${name.padEnd(6)} │ ${line}`);
  };
  const context = (text: string) => lines(text).map((line) => `         │ ${colors.dim(line)}`);
  return [
    colors.cyan(`  ── hunk ${hunk.hunk} of ${hunks}, at line ${hunk.line}`),
    ...context(before),
    ...side('source', source, colors.red),
    ...side('run', run, colors.green),
    ...context(after),
  ];
}

const textLines = (text: string): string[] => (text === '' ? [] : plain(text.replace(/\n$/, '')).split('\n'));

function revertsText(side: 'run' | 'source', lost: LostLines | null, colors: Colors): string[] {
  if (lost === null) return [];
  const other = side === 'run' ? 'the source' : 'the run';
  const file = side === 'run' ? "the run's file" : "the source's file";
  if (lost.additions === 0 && lost.deletions === 0) return [`  ${file} reverts no other edit of ${other}`];
  const patch = lost.hunks.map(({ old_start, old_lines, new_start, new_lines, lines }) =>
    [`@@ -${old_start},${old_lines} +${new_start},${new_lines} @@`, ...lines].join('\n'),
  );
  const shown = patch.length === 0 ? ['(too many to show)'] : patchLines(patch.join('\n'), colors);
  return [
    `  ${file} reverts edits of ${other}: ${counted(lost.deletions, 'line')} lost, ${counted(lost.additions, 'line')} back`,
    ...fold(shown, { head: 30, tail: 10, note: ' (--json has them)' }).map((line) => `    ${line}`),
  ];
}
