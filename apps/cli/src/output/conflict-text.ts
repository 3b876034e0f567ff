import type { ConflictHunk, LostLines } from '@holdpoint/contract';
import type { ConflictView } from '@holdpoint/contract/wire';
import { nameText, plain } from '@holdpoint/readable';
import type { Colors } from '../shell/index.ts';
import { patchLines } from './diff-text.ts';
import { fold } from './layout.ts';
import { counted } from './units.ts';

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
