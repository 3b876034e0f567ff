/** A patch in the format that OpenAI publishes for its models: sections between `*** Begin Patch` and `*** End Patch`, one per file. */
export type PatchSection =
  | { kind: 'add'; path: string; lines: string[] }
  | { kind: 'delete'; path: string }
  | { kind: 'update'; path: string; moveTo?: string | undefined; hunks: PatchHunk[] };

export interface PatchHunk {
  /** Lines behind `@@`, each below the one before: the hunk lies below the last. */
  anchors: string[];
  lines: { kind: ' ' | '-' | '+'; text: string }[];
  /** The hunk ends where the file ends. */
  atEnd: boolean;
}

/** `line`: of the patch, counted from 1. */
export type ReadPatch = { ok: true; sections: PatchSection[] } | { ok: false; line: number; detail: string };

/** Reads a whole patch, or says which line is wrong. Takes linear time. */
export function readPatch(patch: string): ReadPatch {
  const reader = new Reader(patch);
  try {
    return { ok: true, sections: reader.sections() };
  } catch (error) {
    if (error instanceof Mistake) return { ok: false, line: error.line, detail: error.message };
    throw error;
  }
}

class Mistake extends Error {
  override name = 'Mistake';
  readonly line: number;

  constructor(line: number, detail: string) {
    super(detail);
    this.line = line;
  }
}

const begin = '*** Begin Patch';
const end = '*** End Patch';
const header = /^\*\*\* (Add|Delete|Update) File: (.*)$/;
const move = /^\*\*\* Move to: (.*)$/;
const endOfFile = '*** End of File';
/** A model may write the numbers of a unified diff: their lines are found by content, as all others. */
const numbers = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/;

class Reader {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(patch: string) {
    const lines = patch.split('\n');
    const ends = lines.slice(0, -1);
    // A patch whose every line ends with CRLF was converted on its way.
    const isConverted = ends.length > 0 && ends.every((line) => line.endsWith('\r'));
    this.#lines = isConverted ? lines.map((line) => line.replace(/\r$/, '')) : lines;
  }

  sections(): PatchSection[] {
    this.#skipBlank();
    if (this.#line?.trim() !== begin) throw this.#mistake(`the patch must begin with the line ${begin}`);
    this.#at += 1;
    const sections: PatchSection[] = [];
    for (this.#skipBlank(); this.#line?.trim() !== end; this.#skipBlank()) sections.push(this.#section());
    this.#at += 1;
    this.#skipBlank();
    if (this.#line !== undefined) throw this.#mistake(`there is text behind ${end}`);
    this.#at = 0;
    if (sections.length === 0) throw this.#mistake('the patch changes no file');
    return sections;
  }

  #section(): PatchSection {
    const [, kind, written = ''] = header.exec(this.#line ?? '') ?? [];
    if (kind === undefined) {
      const seen = this.#line === undefined ? 'the patch ends' : 'this line stands';
      throw this.#mistake(
        `${seen} where ${end} or one of *** Add File: PATH, *** Update File: PATH, *** Delete File: PATH must stand`,
      );
    }
    const path = this.#path(written);
    this.#at += 1;
    if (kind === 'Delete') return { kind: 'delete', path };
    return kind === 'Add' ? { kind: 'add', path, lines: this.#added() } : { kind: 'update', path, ...this.#changes() };
  }

  #path(written: string): string {
    const path = written.trim();
    if (path === '' || path.length > 4096 || path.includes('\0'))
      throw this.#mistake('the path is empty, too long, or has a NUL');
    return path;
  }

  #added(): string[] {
    const lines: string[] = [];
    for (; this.#line?.startsWith('+'); this.#at += 1) lines.push(this.#line.slice(1));
    this.#skipBlank();
    if (this.#line !== undefined && !this.#line.startsWith('*** '))
      throw this.#mistake('every line of a new file begins with +');
    return lines;
  }

  #changes(): { moveTo?: string; hunks: PatchHunk[] } {
    const [, target] = move.exec(this.#line ?? '') ?? [];
    const moveTo = target === undefined ? undefined : this.#path(target);
    if (moveTo !== undefined) this.#at += 1;
    const hunks: PatchHunk[] = [];
    while (this.#line !== undefined && !isBoundary(this.#line)) hunks.push(this.#hunk());
    if (moveTo === undefined && hunks.length === 0)
      throw this.#mistake('the section changes nothing: it has no lines with - or +');
    return moveTo === undefined ? { hunks } : { moveTo, hunks };
  }

  #hunk(): PatchHunk {
    const first = this.#at;
    const anchors: string[] = [];
    for (; this.#line?.startsWith('@@'); this.#at += 1) {
      const anchor = this.#line.replace(numbers, '@@').slice(2).replace(/^ /, '');
      if (anchor.trim() !== '') anchors.push(anchor);
    }
    const lines: PatchHunk['lines'] = [];
    for (; this.#line !== undefined && !isBoundary(this.#line) && !this.#line.startsWith('@@'); this.#at += 1) {
      lines.push(this.#change(this.#line));
    }
    const atEnd = this.#line?.trimEnd() === endOfFile;
    if (atEnd) this.#at += 1;
    // An editor may leave an empty line before the next header.
    if (!atEnd) while (isBlankContext(lines.at(-1)) && this.#isBeforeHeader) lines.pop();
    if (!lines.some(({ kind }) => kind !== ' ')) {
      this.#at = first;
      throw this.#mistake('the hunk changes nothing: it has no lines with - or +');
    }
    return { anchors, lines, atEnd };
  }

  #change(line: string): PatchHunk['lines'][number] {
    const kind = line[0] ?? ' ';
    if (kind === ' ' || kind === '-' || kind === '+') return { kind, text: line.slice(1) };
    throw this.#mistake('a line of a hunk begins with a space (stays), - (goes) or + (comes)');
  }

  get #isBeforeHeader(): boolean {
    return this.#lines[this.#at - 1] === '';
  }

  get #line(): string | undefined {
    return this.#lines[this.#at];
  }

  #skipBlank(): void {
    while (this.#line?.trim() === '') this.#at += 1;
  }

  #mistake(detail: string): Mistake {
    return new Mistake(Math.min(this.#at + 1, this.#lines.length), detail);
  }
}

const isBlankContext = (line: PatchHunk['lines'][number] | undefined): boolean =>
  line?.kind === ' ' && line.text === '';

const isBoundary = (line: string): boolean =>
  line.trim() === end || header.test(line) || line.trimEnd() === endOfFile || line === begin;
