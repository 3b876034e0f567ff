import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Language, languages } from '../grammars/grammar-of.ts';
import { sources } from '../testing/sources.ts';
import { newErrors } from './extractor.ts';
import { openExtractor } from './open-extractor.ts';

const extractor = await openExtractor();
const limits = { timeoutMs: 20_000 };

async function errorsOf(language: Language, text: string) {
  const found = await extractor.errors({ path: 'file', language, bytes: Buffer.from(text) }, limits);
  if ('unparsed' in found) throw new Error(found.unparsed);
  return found.errors;
}
const brought = async (language: Language, before: string, after: string) =>
  newErrors(await errorsOf(language, after), await errorsOf(language, before));

test.each<[Language, string, number, RegExp]>([
  ['typescript', 'const a = 1;\nfunction f( {\n  return 1;\n}\n', 2, /missing|unexpected/],
  ['typescript', 'const a = [1, 2;\n', 1, /missing "\]"/],
  ['tsx', 'export const A = () => <div><b></div>;\n', 1, /unexpected|missing/],
  ['python', 'def f():\n    return (1\n\nx = 2\n', 2, /unexpected|missing/],
  ['go', 'package a\nfunc f() {\n', 2, /missing|unexpected/],
  ['rust', 'fn f() { let a = ; }\n', 1, /unexpected|missing/],
  ['bash', 'if true; then\necho\n', 3, /missing|unexpected/],
])('%s: the place of an error is named', async (language, text, line, message) => {
  const errors = await errorsOf(language, text);
  expect(errors.map((one) => one.line)).toContain(line);
  expect(errors.map((one) => one.message).join('\n')).toMatch(message);
});

test('sources without an error have none', async () => {
  for (const language of languages) expect(await errorsOf(language, sources[language]), language).toEqual([]);
});

test('an error of the file before is not reported, wherever its line moves', async () => {
  const broken = 'const a = [1;\n';
  expect(await brought('typescript', broken, `// a comment\n\n${broken}const b = 1;\n`)).toEqual([]);
  expect(await brought('typescript', `${broken}const b = 1;\n`, `${broken}const b = (1;\n`)).toEqual([
    { line: 2, column: expect.any(Number), message: 'missing ")"' },
  ]);
  expect(await brought('typescript', broken, `${broken}${broken}`)).toHaveLength(1);
  expect(await brought('typescript', '', broken)).toHaveLength(1);
});

test('any text has bounded errors, and the file before brings none', async () => {
  const piece = fc.constantFrom(
    ...[
      '(',
      ')',
      '{',
      '}',
      '<',
      '/>',
      '`',
      '"',
      '\n',
      'def ',
      'func',
      ' = ',
      '\ud800',
      '\0',
      'é',
      '${',
      '/*',
      '#',
      'x',
    ],
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...languages), fc.array(piece, { maxLength: 60 }), async (language, pieces) => {
      const found = await extractor.errors({ path: 'file', language, bytes: Buffer.from(pieces.join('')) }, limits);
      if ('unparsed' in found) return;
      const { errors } = found;
      expect(errors.length).toBeLessThanOrEqual(50);
      for (const { line, column, message } of errors) {
        expect(line).toBeGreaterThan(0);
        expect(column).toBeGreaterThan(0);
        expect(message.length).toBeLessThanOrEqual(300);
      }
      expect(newErrors(errors, errors)).toEqual([]);
    }),
    { numRuns: 300 },
  );
});
