/** A line of a unified diff. `text` has its sign. */
export interface PatchLine {
  kind: 'file' | 'hunk' | 'plus' | 'minus' | 'same';
  text: string;
  /** The file that the line belongs to. `undefined`: the patch names none. */
  path?: string | undefined;
  /** Its number before the change. */
  old?: number | undefined;
  /** Its number after the change. */
  new?: number | undefined;
}

/** The lines of a patch with their numbers. A hunk has as many lines as its head says, so a removed line `-- x` is no head of a file. */
export function patchLinesOf(patch: string): PatchLine[] {
  const at = { path: undefined as string | undefined, old: 0, new: 0, oldLeft: 0, newLeft: 0 };
  return patch
    .replace(/\n$/, '')
    .split('\n')
    .map((text) => (at.oldLeft > 0 || at.newLeft > 0 ? lineOf(text, at) : headOf(text, at)));
}

interface Place {
  path: string | undefined;
  old: number;
  new: number;
  oldLeft: number;
  newLeft: number;
}

function lineOf(text: string, at: Place): PatchLine {
  const { path } = at;
  if (text.startsWith('\\')) return { kind: 'hunk', text, path };
  const [isOld, isNew] = [!text.startsWith('+'), !text.startsWith('-')];
  if (isOld) at.oldLeft--;
  if (isNew) at.newLeft--;
  const numbers = { old: isOld ? at.old++ : undefined, new: isNew ? at.new++ : undefined };
  return { kind: isOld && isNew ? 'same' : isOld ? 'minus' : 'plus', text, path, ...numbers };
}

function headOf(text: string, at: Place): PatchLine {
  const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(text);
  if (hunk !== null) {
    const [, old, oldLines = '1', next, newLines = '1'] = hunk;
    Object.assign(at, { old: Number(old), oldLeft: Number(oldLines), new: Number(next), newLeft: Number(newLines) });
    return { kind: 'hunk', text, path: at.path };
  }
  if (text.startsWith('\\')) return { kind: 'hunk', text, path: at.path };
  if (text.startsWith('diff ')) at.path = undefined;
  const named = /^(?:---|\+\+\+) (.*)$/.exec(text)?.[1];
  if (named !== undefined) at.path = pathIn(named) ?? at.path;
  return { kind: 'file', text, path: at.path };
}

/** `a/x`, `b/x` or git's quoted form of them. @returns undefined for /dev/null and for bytes that are no UTF-8 */
function pathIn(named: string): string | undefined {
  // git puts a tab behind a name with a space.
  const bare = named.replace(/\t$/, '');
  const path = bare.startsWith('"') ? unquoted(bare) : bare;
  return /^[ab]\//.test(path ?? '') ? path?.slice(2) : undefined;
}

const escapes: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 };

function unquoted(quoted: string): string | undefined {
  const bytes: number[] = [];
  for (const [, octal, letter, text] of quoted.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/g)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else if (letter !== undefined) bytes.push(escapes[letter] ?? 63);
    else bytes.push(...new TextEncoder().encode(text));
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    return undefined;
  }
}
