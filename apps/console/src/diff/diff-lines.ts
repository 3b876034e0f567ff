import type { Diff } from '@holdpoint/contract/wire';

export type FileDiff = Diff['files'][number];
/** A changed file without its lines, as `stat` lists it. */
export type ChangedFile = Omit<FileDiff, 'hunks'>;

export interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'note';
  old: number | undefined;
  new: number | undefined;
  text: string;
  /** Range of the changed text, compared with the line on the other side. */
  changed?: readonly [from: number, to: number];
}

/** A row of either layout: the head of a hunk, one line, or two lines side by side. */
export type DiffRow =
  | { kind: 'hunk'; text: string }
  | { kind: 'line'; line: DiffLine }
  | { kind: 'pair'; left: DiffLine | undefined; right: DiffLine | undefined };

/** The rows of a file. */
export function rowsOf({ hunks }: Pick<FileDiff, 'hunks'>, layout: 'unified' | 'split'): DiffRow[] {
  return hunks.flatMap((hunk) => {
    const lines = linesOf(hunk);
    const { old_start, old_lines, new_start, new_lines } = hunk;
    const head: DiffRow = { kind: 'hunk', text: `@@ -${old_start},${old_lines} +${new_start},${new_lines} @@` };
    return [head, ...(layout === 'split' ? pairsOf(lines) : lines.map((line): DiffRow => ({ kind: 'line', line })))];
  });
}

const kinds: Partial<Record<string, DiffLine['kind']>> = { '+': 'added', '-': 'removed', ' ': 'same' };

function linesOf({ lines, old_start, new_start }: FileDiff['hunks'][number]): DiffLine[] {
  let [old, next] = [old_start, new_start];
  const found = lines.map((line): DiffLine => {
    const kind = kinds[line[0] ?? ''] ?? 'note';
    const text = kind === 'note' ? line.replace(/^\\ ?/, '') : line.slice(1);
    return {
      kind,
      old: kind === 'same' || kind === 'removed' ? old++ : undefined,
      new: kind === 'same' || kind === 'added' ? next++ : undefined,
      text,
    };
  });
  for (const { removed, added } of blocksOf(found)) {
    // Lines of a block with other counts on both sides have no partner for sure.
    if (removed.length !== added.length) continue;
    for (const [at, line] of removed.entries()) markChange(line, added[at] as DiffLine);
  }
  return found;
}

interface Block {
  removed: DiffLine[];
  added: DiffLine[];
}

/** Removed lines with the added lines that follow them. */
function blocksOf(lines: readonly DiffLine[]): Block[] {
  const blocks: Block[] = [];
  let block: Block = { removed: [], added: [] };
  for (const line of lines) {
    if (line.kind === 'removed' && block.added.length > 0) block = { removed: [], added: [] };
    if (line.kind === 'removed') {
      if (block.removed.push(line) === 1) blocks.push(block);
    } else if (line.kind === 'added' && block.removed.length > 0) block.added.push(line);
    else if (line.kind === 'same') block = { removed: [], added: [] };
  }
  return blocks;
}

/** Marks what lies between the common beginning and the common end, unless hardly anything is common. */
function markChange(removed: DiffLine, added: DiffLine): void {
  const [a, b] = [removed.text, added.text];
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start++;
  let end = 0;
  while (end < most - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  if (start + end < Math.max(a.length, b.length) / 4) return;
  removed.changed = [start, a.length - end];
  added.changed = [start, b.length - end];
}

function pairsOf(lines: readonly DiffLine[]): DiffRow[] {
  const rows: DiffRow[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] as DiffLine;
    if (line.kind === 'same') {
      rows.push({ kind: 'pair', left: line, right: line });
      at += 1;
      continue;
    }
    if (line.kind === 'note') {
      rows.push({ kind: 'line', line });
      at += 1;
      continue;
    }
    const removed = runOf(lines, at, 'removed');
    const notes = runOf(lines, at + removed.length, 'note');
    const added = runOf(lines, at + removed.length + notes.length, 'added');
    for (let row = 0; row < Math.max(removed.length, added.length); row++) {
      rows.push({ kind: 'pair', left: removed[row], right: added[row] });
    }
    rows.push(...notes.map((note): DiffRow => ({ kind: 'line', line: note })));
    at += removed.length + notes.length + added.length;
  }
  return rows;
}

function runOf(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): DiffLine[] {
  let end = from;
  while (lines[end]?.kind === kind) end++;
  return lines.slice(from, end);
}

/** The line of a row on one side, as its number there is shown. */
export function lineAt(row: DiffRow, side: 'old' | 'new'): DiffLine | undefined {
  if (row.kind === 'hunk') return undefined;
  return row.kind === 'line' ? row.line : side === 'old' ? row.left : row.right;
}

/** Text of a file, in UTF-16 units. */
export const sizeOf = ({ hunks }: Pick<FileDiff, 'hunks'>): number =>
  hunks.reduce((sum, { lines }) => lines.reduce((total, line) => total + line.length, sum), 0);
