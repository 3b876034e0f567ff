import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatPatch, OMIT_HEADERS, structuredPatch } from 'diff';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyPatch } from './apply-patch.ts';

const apply = (file: string | Buffer, patch: string, path = 'f.txt') =>
  applyPatch({ data: Buffer.from(file), patch, path });
const text = (file: string | Buffer, patch: string, path?: string) => {
  const patched = apply(file, patch, path);
  return patched.status === 'patched' ? patched.data.toString() : patched;
};

// covers S4-24, S4-26
describe('applyPatch', () => {
  it.each([
    [
      'several hunks without headers',
      'one\ntwo\nthree\n',
      '@@ -1,2 +1,1 @@\n-one\n two\n@@ -3 +2,2 @@\n three\n+four\n',
      'two\nthree\nfour\n',
    ],
    [
      'a file without a last newline',
      'old',
      '@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new\n\\ No newline at end of file\n',
      'new',
    ],
    ['CRLF', 'a\r\nb\r\n', '@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n', 'a\r\nc\r\n'],
    ['the special patterns of String.replace', 'a\n', '@@ -1 +1 @@\n-a\n+$& $1 $$\n', '$& $1 $$\n'],
    ['text past the BMP', '😀\nb\n', '@@ -1,2 +1,2 @@\n 😀\n-b\n+👩‍👩‍👧\n', '😀\n👩‍👩‍👧\n'],
    ['an empty file', '', '@@ -0,0 +1,2 @@\n+a\n+b\n', 'a\nb\n'],
  ])('keeps %s', (_name, file, patch, result) => {
    expect(text(file, patch)).toBe(result);
  });

  it('leaves bytes that are not UTF-8 alone', () => {
    const patched = apply(Buffer.from([0xff, 0x0a, 0x61, 0x0a]), '@@ -2 +2 @@\n-a\n+é\n');
    expect(patched.status === 'patched' && [...patched.data]).toEqual([0xff, 0x0a, 0xc3, 0xa9, 0x0a]);
  });

  it('moves a hunk to the nearest place with exactly its context', () => {
    const hunk = '@@ -1,3 +1,3 @@\n {\n-x\n+y\n }\n';
    expect(text('{\nz\n}\n{\nx\n}\n\n{\nx\n}\n', hunk)).toBe('{\nz\n}\n{\ny\n}\n\n{\nx\n}\n');
    expect(text('{ \nx\n}\n', hunk)).toMatchObject({ status: 'mismatch' });
  });

  it('puts a hunk with less context at one side at that end of the file', () => {
    const first = '@@ -1,2 +1,2 @@\n-a\n+b\n c\n';
    expect(text('a\nc\na\nc\n', first)).toBe('b\nc\na\nc\n');
    expect(text('c\na\nc\n', first)).toMatchObject({ status: 'mismatch' });
    const last = '@@ -2,2 +2,2 @@\n c\n-a\n+b\n';
    expect(text('c\na\nc\na\n', last)).toBe('c\na\nc\nb\n');
    expect(text('c\na\nc\n', last)).toMatchObject({ status: 'mismatch' });
  });

  it('says that line endings alone differ, and which the file has', () => {
    const crlf = 'a\r\nb\r\nc\r\n';
    const patch = '@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n';
    const differs = (file: string, given: string) => apply(file, given).status === 'mismatch' && apply(file, given);
    expect(differs(crlf, patch)).toMatchObject({ hunk: 1, line_endings: { file: 'CRLF', patch: 'LF' } });
    const withCrlf = patch.replace(/^([ +-].*)\n/gm, '$1\r\n');
    expect(text(crlf, withCrlf)).toBe('a\r\nB\r\nc\r\n');
    expect(differs('a\nb\nc\n', withCrlf)).toMatchObject({ line_endings: { file: 'LF', patch: 'CRLF' } });
    expect(differs('a\r\nb\nc\n', patch)).toMatchObject({ line_endings: { file: 'mixed', patch: 'LF' } });
    expect(differs(crlf, patch.replace('-b', '-x'))).toMatchObject({ line_endings: undefined });
  });

  it('names the hunk that does not fit, and applies none', () => {
    const patch = '@@ -1 +1 @@\n-a\n+A\n@@ -3,1 +3,1 @@\n-x\n+y\n';
    expect(apply('a\nb\nc\n', patch)).toEqual({ status: 'mismatch', hunk: 2, header: '@@ -3,1 +3,1 @@' });
  });

  it.each([
    ['a text without hunks', 'not a diff'],
    ['an empty text', ''],
    ['headers alone', '--- a/f.txt\n+++ b/f.txt\n'],
    ['a hunk without a change', '@@ -1 +1 @@\n a\n'],
    ['more lines than the hunk says', '@@ -1 +1 @@\n-a\n+b\n+c\n'],
    ['fewer lines than the hunk says', '@@ -1 +1,3 @@\n-a\n+b\n'],
    ['hunks out of order', '@@ -2 +2 @@\n-b\n+c\n@@ -1 +1 @@\n-a\n+b\n'],
    ['two files', '--- a/f.txt\n+++ b/f.txt\n@@ -1 +1 @@\n-a\n+b\n--- a/g.txt\n+++ b/g.txt\n@@ -1 +1 @@\n-a\n+b\n'],
    ['a mark behind a line that is not the last', '@@ -1,2 +1,2 @@\n-a\n+b\n\\ No newline at end of file\n a\n'],
  ])('refuses %s', (_name, patch) => {
    expect(apply('a\n', patch)).toMatchObject({ status: 'unreadable' });
  });

  it.each(['f.txt', 'a/f.txt', './f.txt'])('accepts a header that names %s', (name) => {
    expect(text('a\n', `--- ${name}\n+++ ${name}\n@@ -1 +1 @@\n-a\n+b\n`)).toBe('b\n');
  });

  it('refuses a header that names another file', () => {
    const patch = '--- a/other.txt\n+++ b/other.txt\n@@ -1 +1 @@\n-a\n+b\n';
    expect(apply('a\n', patch)).toEqual({ status: 'other_file', named: 'a/other.txt' });
  });

  describe('beside GNU patch', () => {
    let folder: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'holdpoint-patch-'));
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    const isThere = spawnSync('patch', ['--version']).status === 0;
    const numRuns = process.env.HOLDPOINT_HOSTILE === 'full' ? 10_000 : 250;

    it.skipIf(!isThere)(
      'has the same verdict and the same bytes',
      () => {
        let applied = 0;
        fc.assert(
          fc.property(patched, ({ file, patch }) => {
            const ours = apply(file, patch);
            // GNU patch leaves out lines behind the counted ones, adds empty lines that are missing, and accepts texts without hunks.
            if (ours.status === 'unreadable' && isStricter.test(ours.detail)) return;
            // GNU patch begins a second patch behind an empty line.
            if (patch.includes('\n\n@@')) return;
            const gnu = gnuPatch(folder, file, patch);
            expect(ours.status === 'patched' ? ours.data : undefined).toEqual(gnu);
            if (gnu !== undefined) applied += 1;
          }),
          { numRuns },
        );
        expect(applied).toBeGreaterThan(numRuns / 4);
      },
      300_000,
    );
  });
});

describe.skipIf(spawnSync('patch', ['--version']).status !== 0)('a header of /dev/null', () => {
  it('means what it means for GNU patch', () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdpoint-patch-'));
    for (const file of [undefined, '', 'one\n', 'one\ntwo\n', 'two\n']) {
      for (const [from, to, hunk] of [
        ['/dev/null', 'b/f.txt', '@@ -0,0 +1 @@\n+one'],
        ['a/f.txt', '/dev/null', '@@ -1 +0,0 @@\n-one'],
        ['a/f.txt', '/dev/null', '@@ -1,2 +1 @@\n-one\n two'],
      ]) {
        const patch = `--- ${from}\n+++ ${to}\n${hunk}\n`;
        const target = join(folder, 'f.txt');
        rmSync(target, { force: true });
        if (file !== undefined) writeFileSync(target, file);
        const { status } = spawnSync('patch', ['--fuzz=0', '--force', '--silent', '-p1', '-r', '-'], {
          cwd: folder,
          input: patch,
        });
        const gnu = status !== 0 ? 'refused' : existsSync(target) ? readFileSync(target, 'utf8') : 'deleted';
        const ours = applyPatch({ data: Buffer.from(file ?? ''), patch, path: 'f.txt', missing: file === undefined });
        const result = ours.status !== 'patched' ? 'refused' : ours.deletes ? 'deleted' : ours.data.toString();
        expect(result, `${file} ${patch}`).toBe(gnu);
      }
    }
    rmSync(folder, { recursive: true });
  });
});

const isStricter =
  /more lines than expected|contained invalid line|count did not match|It has no hunk|It changes|Missing "|changes nothing|No newline|begins before/;

/** undefined: it refused. */
function gnuPatch(folder: string, file: string, patch: string): Buffer | undefined {
  const [input, diff, output] = ['input', 'diff', 'output'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(input, file);
  writeFileSync(diff, patch);
  const options = ['--fuzz=0', '--force', '--binary', '--output', output, '--reject-file', '-'];
  return spawnSync('patch', [...options, input, diff]).status === 0 ? readFileSync(output) : undefined;
}

const line = fc.constantFrom('a', 'b', 'c', 'x y', '', '{', '}', 'return 1;', 'é', '\tq', 'a\r');
const content = fc
  .tuple(fc.array(line, { maxLength: 14 }), fc.boolean())
  .map(([lines, isEnded]) => lines.join('\n') + (isEnded && lines.length > 0 ? '\n' : ''));
const edit = fc.record({ at: fc.nat(), remove: fc.nat(2), insert: fc.array(line, { maxLength: 2 }) });
type Edit = { at: number; remove: number; insert: string[] };

const edited = (before: string, edits: readonly Edit[]): string => {
  const lines = before.split('\n');
  for (const { at, remove, insert } of edits) lines.splice(at % (lines.length + 1), remove, ...insert);
  return lines.join('\n');
};

/** A diff of two texts, and a file that it was made for, or one that has changed since, or a diff that has changed. */
const patched = fc
  .record({
    before: content,
    edits: fc.array(edit, { minLength: 1, maxLength: 3 }),
    since: fc.oneof(fc.constant<Edit[]>([]), fc.array(edit, { maxLength: 2 })),
    context: fc.nat(3),
    hasHeaders: fc.boolean(),
    shift: fc.oneof(fc.constant(0), fc.integer({ min: -3, max: 3 })),
    torn: fc.option(fc.record({ at: fc.nat(), from: fc.option(fc.nat()) }), { freq: 4 }),
  })
  .map(({ before, edits, since, context, hasHeaders, shift, torn }) => {
    const diff = structuredPatch('f.txt', 'f.txt', before, edited(before, edits), undefined, undefined, { context });
    const lines = formatPatch(diff, hasHeaders ? undefined : OMIT_HEADERS)
      .replace(/@@ -(\d+)/, (_all, start) => `@@ -${Math.max(0, Number(start) + shift)}`)
      .split('\n');
    if (torn !== null) {
      const copied = torn.from === null ? [] : [lines[torn.from % lines.length] ?? ''];
      lines.splice(torn.at % lines.length, torn.from === null ? 1 : 0, ...copied);
    }
    const patch = lines.join('\n');
    return { file: edited(before, since), patch: patch.endsWith('\n') ? patch : `${patch}\n` };
  });
