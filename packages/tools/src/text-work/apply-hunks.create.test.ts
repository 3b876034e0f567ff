import { structuredPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyHunks } from './apply-hunks.ts';
import { readPatch } from './patch-envelope.ts';

const wrapped = (hunks: string): string => `*** Begin Patch\n*** Update File: f\n${hunks}*** End Patch\n`;

function apply(file: string | Buffer, hunks: string) {
  const read = readPatch(wrapped(hunks));
  if (!read.ok) throw new Error(`line ${read.line}: ${read.detail}`);
  const [section] = read.sections;
  if (section?.kind !== 'update') throw new Error('no update');
  return applyHunks({ data: Buffer.from(file), hunks: section.hunks });
}
const text = (file: string, hunks: string) => {
  const result = apply(file, hunks);
  return result.status === 'applied' ? result.data.toString() : result;
};

describe('applyHunks', () => {
  it.each([
    ['a change by its context', 'a\nb\nc\n', '@@\n a\n-b\n+B\n c\n', 'a\nB\nc\n'],
    ['a first hunk without @@', 'a\nb\n', '-a\n+A\n', 'A\nb\n'],
    ['hunks in order', 'x\ny\nx\ny\n', '@@\n-x\n+1\n@@\n-x\n+2\n', '1\ny\n2\ny\n'],
    ['the place below an anchor', 'f\n x\ng\n x\n', '@@ g\n- x\n+ y\n', 'f\n x\ng\n y\n'],
    [
      'nested anchors',
      'class A\n  f\n    1\nclass B\n  f\n    1\n',
      '@@ class B\n@@   f\n-    1\n+    2\n',
      'class A\n  f\n    1\nclass B\n  f\n    2\n',
    ],
    ['an anchor that is also the first line', 'f\n x\n', '@@ f\n f\n- x\n+ y\n', 'f\n y\n'],
    ['an anchor with other indentation', '  def f():\n    x\n', '@@ def f():\n-    x\n+    y\n', '  def f():\n    y\n'],
    ['the numbers of a unified diff', 'a\nb\n', '@@ -7,1 +7,1 @@\n-b\n+B\n', 'a\nB\n'],
    ['new lines below an anchor', 'a\nb\n', '@@ a\n+new\n', 'a\nnew\nb\n'],
    ['new lines at the end', 'a\nb\n', '@@\n+new\n', 'a\nb\nnew\n'],
    ['the end of the file', 'x\ny\nx\n', '@@\n-x\n+z\n*** End of File\n', 'x\ny\nz\n'],
    ['a file without a last newline', 'a\nb', '@@\n-b\n+B\n', 'a\nB'],
    ['CRLF', 'a\r\nb\r\nc\r\n', '@@\n a\n-b\n+B\n+C\n', 'a\r\nB\r\nC\r\nc\r\n'],
    ['spaces at the end of a line that stays', 'a  \nb\n', '@@\n a\n-b\n+B\n', 'a  \nB\n'],
    ['an empty line written without its space', 'a\n\nb\n', '@@\n a\n\n-b\n+B\n', 'a\n\nB\n'],
    ['an empty file', '', '@@\n+a\n', 'a\n'],
    ['characters of several bytes', 'é\u00a0\n😀\n', '@@\n é\u00a0\n-😀\n+à\n', 'é\u00a0\nà\n'],
  ])('finds %s', (_name, file, hunks, result) => expect(text(file, hunks)).toBe(result));

  it('keeps bytes that are not UTF-8', () => {
    const result = apply(Buffer.from([0xff, 0x0a, 0x61, 0x0a]), '@@\n-a\n+é\n');
    expect(result.status === 'applied' && [...result.data]).toEqual([0xff, 0x0a, 0xc3, 0xa9, 0x0a]);
  });

  it('names the hunk that does not fit, and the nearest line', () => {
    const file = 'function a() {\n\treturn 1;\n}\n';
    expect(apply(file, '@@\n-function a() {\n+function b() {\n@@\n-  return 1;\n+  return 2;\n')).toMatchObject({
      status: 'mismatch',
      hunk: 2,
      nearest: { line: 2, differs_in: 'whitespace' },
    });
    expect(apply(file, '@@ class A\n-}\n+]\n')).toMatchObject({
      hunk: 1,
      detail: expect.stringContaining('"class A"'),
    });
    expect(apply('x\ny\n', '@@\n-x\n+z\n*** End of File\n')).toMatchObject({ status: 'mismatch' });
    expect(apply('a\nb\n', '@@\n-b\n+B\n@@\n-a\n+A\n')).toMatchObject({ hunk: 2 });
  });

  it('takes linear time over repetitive lines', () => {
    const same = 'a\n'.repeat(200_000);
    const hunk = `@@\n${' a\n'.repeat(2000)}-b\n+c\n`;
    expect(apply(`${same}b\n`, hunk)).toMatchObject({ status: 'applied' });
    expect(apply(same, hunk)).toMatchObject({ status: 'mismatch' });
  });

  it('makes the change that a diff of two texts says, wherever it fits once', () => {
    const line = fc.constantFrom('a', 'b', 'c d', '', '{', '}', 'é', '\tx', '*** x', '@@ y', '-z', '+z');
    const lines = fc.array(line, { maxLength: 12 });
    let applied = 0;
    fc.assert(
      fc.property(lines, lines, fc.boolean(), (old, now, crlf) => {
        const marked = (all: readonly string[]) => all.map((one, index) => `${one}#${index}\n`).join('');
        const [before, after] = [marked(old), now.map((one) => `${one}\n`).join('')];
        const { hunks } = structuredPatch('f', 'f', before, after, '', '', { context: 2 });
        if (hunks.length === 0) return;
        const patch = hunks.map((hunk) => `@@\n${hunk.lines.map((one) => `${one}\n`).join('')}`).join('');
        const ended = (file: string) => (crlf ? file.replaceAll('\n', '\r\n') : file);
        // New lines of an empty file have no ending to follow.
        expect(text(ended(before), patch)).toBe(before === '' ? after : ended(after));
        applied += 1;
      }),
      { numRuns: 500 },
    );
    expect(applied).toBeGreaterThan(300);
  });
});

describe('readPatch', () => {
  it.each([
    ['no beginning', 'x', 1, 'must begin'],
    ['no end', '*** Begin Patch\n*** Add File: a\n+x\n', 4, 'the patch ends'],
    ['no section', '*** Begin Patch\n*** End Patch', 1, 'changes no file'],
    ['text behind the end', '*** Begin Patch\n*** Delete File: a\n*** End Patch\nx', 4, 'text behind'],
    ['a new file without +', '*** Begin Patch\n*** Add File: a\nx\n*** End Patch', 3, 'begins with +'],
    ['an update without a change', wrapped('@@\n a\n'), 3, 'changes nothing'],
    ['an update without lines', wrapped(''), 3, 'changes nothing'],
    ['a line without a mark', wrapped('@@\n-a\nb\n'), 5, 'a space (stays)'],
    ['an unknown header', '*** Begin Patch\n*** Copy File: a\n*** End Patch', 2, 'this line stands'],
    ['a path of nothing', '*** Begin Patch\n*** Delete File:  \n*** End Patch', 2, 'path is empty'],
  ])('refuses %s with its line', (_name, patch, line, detail) => {
    expect(readPatch(patch)).toEqual({ ok: false, line, detail: expect.stringContaining(detail) });
  });

  it('accepts blank lines around sections, and a patch converted to CRLF', () => {
    const patch =
      '\n*** Begin Patch\n\n*** Add File: a\n+x\n\n*** Update File: b\n-c\n+d\n\n*** Delete File: e\n*** End Patch\n\n';
    const sections = [
      { kind: 'add', path: 'a', lines: ['x'] },
      {
        kind: 'update',
        path: 'b',
        hunks: [
          {
            lines: [
              { kind: '-', text: 'c' },
              { kind: '+', text: 'd' },
            ],
          },
        ],
      },
      { kind: 'delete', path: 'e' },
    ];
    expect(readPatch(patch)).toMatchObject({ ok: true, sections });
    expect(readPatch(patch.replaceAll('\n', '\r\n'))).toMatchObject({ ok: true, sections });
  });

  it('reads any text without an exception', () => {
    const piece = fc.constantFrom(
      '*** Begin Patch',
      '*** End Patch',
      '*** Add File: a',
      '*** Update File: b',
      '*** Move to: c',
      '*** Delete File: d',
      '*** End of File',
      '@@',
      '@@ x',
      '+a',
      '-b',
      ' c',
      '',
      'x',
      '\r',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (lines) => {
        const read = readPatch(lines.join('\n'));
        if (read.ok) expect(read.sections.length).toBeGreaterThan(0);
        else expect(read.line).toBeGreaterThan(0);
      }),
      { numRuns: 2000 },
    );
  });
});
