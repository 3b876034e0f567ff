import { parsePatch, type StructuredPatch, type StructuredPatchHunk } from 'diff';
import { splitLines } from './text.ts';

export interface PatchInput {
  data: Buffer;
  /** A unified diff of a single file. Headers may be left out. */
  patch: string;
  /** The file to name in headers, relative to the workspace. */
  path: string;
  /** There is no file, and `data` is empty. @default false */
  missing?: boolean;
}

/** `hunk`: number of a hunk in the patch, from 1. */
export type PatchedText =
  | { status: 'patched'; data: Buffer; hunks: number; deletes: boolean }
  | { status: 'unreadable'; detail: string }
  | { status: 'other_file'; named: string }
  | { status: 'mismatch'; hunk: number; header: string; line_endings: OtherEndings | undefined }
  /**
   * `exists`: the patch makes a file, but the file exists with content. `missing`: the patch changes a missing file. `remains`: the patch
   * deletes a file with more content than the patch has.
   */
  | { status: 'exists' | 'missing' | 'remains' };

/**
 * Applies a unified diff, whole or not at all, byte for byte: no line ending is converted. A hunk may lie at another place than its header
 * says when its context is exactly there; the nearest place counts, as with `patch --fuzz=0`. A header of /dev/null makes or deletes the file.
 */
export function applyPatch({ data, patch, path, missing = false }: PatchInput): PatchedText {
  const read = readPatch(patch);
  if (typeof read === 'string') return { status: 'unreadable', detail: read };
  const named = otherFile(read, path);
  if (named !== undefined) return { status: 'other_file', named };
  const creates = read.oldFileName === nowhere && read.hunks[0]?.oldLines === 0;
  const deletes = read.newFileName === nowhere && read.hunks[0]?.newLines === 0;
  if (missing && !creates) return { status: 'missing' };
  if (creates && data.length > 0) return { status: 'exists' };
  // A character per byte: bytes outside of UTF-8 survive.
  const lines = splitLines(data.toString('latin1'));
  const out: string[] = [];
  let next = 0;
  let shift = 0;
  for (const [at, hunk] of read.hunks.entries()) {
    const { before, after, lead, trail } = sides(hunk);
    const guess = hunk.oldStart - 1 + shift;
    const wanted = { before, lead, trail, start: hunk.oldStart, guess, from: next };
    const found = place(lines, wanted);
    if (found === undefined) {
      return { status: 'mismatch', hunk: at + 1, header: headerOf(hunk), line_endings: otherEndings(lines, wanted) };
    }
    shift += found - guess;
    // Context lines are unchanged, so the next hunk may use them, too.
    for (let line = next; line < found + lead; line++) out.push(lines[line] ?? '');
    for (const line of after.slice(lead, after.length - trail)) out.push(line);
    next = found + before.length - trail;
  }
  for (let line = next; line < lines.length; line++) out.push(lines[line] ?? '');
  if (deletes && out.length > 0) return { status: 'remains' };
  return { status: 'patched', data: Buffer.from(joined(out), 'latin1'), hunks: read.hunks.length, deletes };
}

const nowhere = '/dev/null';

/** The patch of a single file, or the reason of a refusal. */
function readPatch(patch: string): StructuredPatch | string {
  let files: StructuredPatch[];
  try {
    files = parsePatch(Buffer.from(patch, 'utf8').toString('latin1'));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const [only, ...others] = files.filter(({ hunks }) => hunks.length > 0);
  if (only === undefined) return 'It has no hunk: a hunk begins with a line such as @@ -1,3 +1,4 @@';
  if (others.length > 0) return `It changes ${files.length} files, and one call changes one`;
  const empty = only.hunks.findIndex(({ lines }) => lines.every((line) => !/^[-+]/.test(line)));
  if (empty !== -1) return `Hunk ${empty + 1} changes nothing`;
  const early = only.hunks.findIndex(({ oldStart }, at) => {
    const former = only.hunks[at - 1];
    return former !== undefined && oldStart < former.oldStart + former.oldLines;
  });
  if (early !== -1) return `Hunk ${early + 1} begins before hunk ${early} ends`;
  const unended = only.hunks.findIndex(({ lines }, at) => {
    const isLast = at === only.hunks.length - 1;
    return isLast ? !endsAtMarks(lines) : lines.some((line) => line.startsWith('\\'));
  });
  if (unended !== -1) return `Hunk ${unended + 1} says "No newline at end of file" of a line that is not the last`;
  return only;
}

/** Every "No newline at end of file" stands behind the last line of its side. */
function endsAtMarks(lines: readonly string[]): boolean {
  return lines.every((line, at) => {
    if (!line.startsWith('\\')) return true;
    const marked = lines[at - 1] ?? '\\';
    const kind = marked.length > 1 ? marked[0] : '\\';
    const rest = lines.slice(at + 1).map((later) => later[0] ?? ' ');
    switch (kind) {
      case '-':
        return rest.every((later) => later === '+' || later === '\\');
      case '+':
        return rest.every((later) => later === '-' || later === '\\');
      default:
        return kind !== '\\' && rest.length === 0;
    }
  });
}

/** The file named by the headers, when different from `path`. */
function otherFile({ oldFileName, newFileName }: StructuredPatch, path: string): string | undefined {
  const named = [oldFileName, newFileName]
    .filter((name) => name !== undefined && name !== nowhere)
    .map((name) => Buffer.from(name ?? '', 'latin1').toString('utf8'));
  const plain = path.replace(/^\.\//, '');
  return named.find((name) => name !== plain && name.replace(/^(?:[ab]|\.)\//, '') !== plain);
}

interface Sides {
  before: string[];
  after: string[];
  /** Lines of context at the beginning and at the end. */
  lead: number;
  trail: number;
}

function sides({ lines }: StructuredPatchHunk): Sides {
  const whole: { kind: string; text: string }[] = [];
  for (const line of lines) {
    const last = whole.at(-1);
    if (!line.startsWith('\\')) whole.push({ kind: line[0] ?? ' ', text: `${line.slice(1)}\n` });
    else if (last !== undefined) last.text = last.text.slice(0, -1);
  }
  const isContext = ({ kind }: { kind: string }) => kind === ' ';
  const text = (line: { text: string }) => line.text;
  return {
    before: whole.filter(({ kind }) => kind !== '+').map(text),
    after: whole.filter(({ kind }) => kind !== '-').map(text),
    lead: whole.findIndex((line) => !isContext(line)),
    trail: whole.length - 1 - whole.findLastIndex((line) => !isContext(line)),
  };
}

/**
 * The first line of the hunk, from 0. With less context on one side the hunk lies at this end of the file; at the beginning only if its header
 * agrees.
 * @param wanted.start the line of its header
 * @param wanted.guess the expected first line, moved as far as the previous hunk
 * @param wanted.from earlier hunks have settled all lines before
 */
function place(
  lines: readonly string[],
  { before, lead, trail, start, guess, from }: Omit<Sides, 'after'> & { start: number; guess: number; from: number },
): number | undefined {
  if (before.length === 0) return guess < from ? undefined : Math.min(guess, lines.length);
  const last = lines.length - before.length;
  const fits = (at: number) => at >= 0 && at <= last && before.every((line, index) => lines[at + index] === line);
  // A hunk with changes in settled lines is out of order.
  const inOrder = (at: number) => (at + lead < from ? undefined : at);
  if (lead < trail && start <= 1) return fits(0) ? inOrder(0) : undefined;
  if (trail < lead) return fits(last) ? inOrder(last) : undefined;
  for (let away = 0; away <= Math.max(last - guess, guess - from); away++) {
    if (fits(guess + away)) return inOrder(guess + away);
    if (guess - away >= from && fits(guess - away)) return guess - away;
  }
  return undefined;
}

/** The hunk would apply but for its line endings: the endings of the file, and of the patch. */
interface OtherEndings {
  file: Endings;
  patch: Endings;
}

type Endings = 'CRLF' | 'LF' | 'mixed';

function otherEndings(lines: readonly string[], wanted: Parameters<typeof place>[1]): OtherEndings | undefined {
  const { before } = wanted;
  if (![...lines, ...before].some((line) => line.endsWith('\r\n'))) return undefined;
  const found = place(lines.map(withLf), { ...wanted, before: before.map(withLf) });
  if (found === undefined) return undefined;
  return { file: endingsOf(lines.slice(found, found + before.length)), patch: endingsOf(before) };
}

const withLf = (line: string): string => line.replace(/\r\n$/, '\n');

function endingsOf(lines: readonly string[]): Endings {
  const ended = lines.filter((line) => line.endsWith('\n'));
  const crlf = ended.filter((line) => line.endsWith('\r\n')).length;
  if (crlf === 0) return 'LF';
  return crlf === ended.length ? 'CRLF' : 'mixed';
}

const headerOf = ({ oldStart, oldLines, newStart, newLines }: StructuredPatchHunk): string =>
  `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;

/** A former last line without a newline gets a newline. */
function joined(lines: readonly string[]): string {
  return lines.map((line, at) => (at < lines.length - 1 && !line.endsWith('\n') ? `${line}\n` : line)).join('');
}
