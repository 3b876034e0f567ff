/** Counts the lines and imports of a file of code; re-exports from other files count as import lines. */
import { readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';
import { listFiles } from './words/prose.ts';

export function listCode(): string[] {
  return listFiles('.').filter((file) => /\.(ts|mjs)$/.test(file) && !file.startsWith('examples/repos/'));
}

export function isTest(file: string): boolean {
  return /^tests\/|\.test\.ts$|\/(testing|fixtures)\//.test(file);
}

export function measureFile(file: string): { lines: number; imports: number; importLines: number } {
  const text = readFileSync(file, 'utf8');
  const { program } = parseSync(file, text);
  const imports = program.body.filter(({ type }) => type === 'ImportDeclaration').length;
  const takesFromFile = program.body.filter((statement) => 'source' in statement && statement.source !== null);
  const importLines = takesFromFile.map(({ start, end }) => text.slice(start, end).split('\n').length);
  return {
    lines: text.split('\n').length - 1,
    imports,
    importLines: importLines.reduce((all, count) => all + count, 0),
  };
}
