/**
 * Measures the code base: lines, imports, exports, file lengths, and how plain the comments are. Source is TypeScript and JavaScript
 * outside `tests/`, without tests and without folders `testing` or `fixtures`.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isTest, listCode, measureFile } from './count-imports.ts';
import pointing from './words/pointing.json' with { type: 'json' };
import { countPointing, packageOf } from './words/pointing.ts';
import { findBanned, listFiles, readProse } from './words/prose.ts';

const files = listCode();
const source = files.filter((file) => !isTest(file)).map(measureFile);
const tests = files.filter(isTest).map(measureFile);
const lengths = source.map(({ lines }) => lines).sort((a, b) => a - b);
const comments = files.map(measureComments);

print('source', `${source.length} files, ${sum(source, 'lines')} lines`);
print('tests', `${tests.length} files, ${sum(tests, 'lines')} lines`);
print('file length', `median ${quantile(0.5)}, p90 ${quantile(0.9)}`);
print(
  'imports',
  `${sum(source, 'imports')}, ${((100 * sum(source, 'imports')) / sum(source, 'lines')).toFixed(2)} % of source lines`,
);
print(
  'import lines',
  `${sum(source, 'importLines')}, ${((100 * sum(source, 'importLines')) / sum(source, 'lines')).toFixed(2)} % of source lines, re-exports too`,
);
print(
  'vague words',
  `${((1000 * sum(comments, 'banned')) / sum(comments, 'words')).toFixed(1)} per 1,000 of ${sum(comments, 'words')} comment words`,
);
const { words, pointing: pointed } = countPointing(
  files.filter((file) => packageOf(file) !== undefined),
  pointing.words,
);
print('pointing words', `${((1000 * pointed) / words).toFixed(1)} per 1,000 of ${words} comment words, tests left out`);
for (const { name, entries } of listExports()) print(`exports of ${name}`, String(entries));

function measureComments(file: string): { words: number; banned: number } {
  const text = readProse(file, ['comment']);
  return { words: text.match(/\p{L}[\p{L}'-]*/gu)?.length ?? 0, banned: findBanned(text).length };
}

function listExports(): { name: string; entries: number }[] {
  const packages = listFiles('.').filter((file) => /^(packages|apps)\/[^/]+\/package\.json$/.test(file));
  return packages.map((file) => {
    const { exports = {} } = JSON.parse(readFileSync(file, 'utf8'));
    return { name: path.dirname(file), entries: typeof exports === 'string' ? 1 : Object.keys(exports).length };
  });
}

function quantile(share: number): number | undefined {
  return lengths[Math.floor(share * lengths.length)];
}

function sum<Key extends string>(rows: Record<Key, number>[], key: Key): number {
  return rows.reduce((total, row) => total + row[key], 0);
}

function print(name: string, value: string): void {
  process.stdout.write(`${name.padEnd(40)}${value}\n`);
}
