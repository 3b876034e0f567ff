import type { FileReport, Tree } from './read-tree.ts';

/** Counts of the common facts, and the facts of a single side. */
export interface Comparison {
  files: number;
  symbols: number;
  imports: number;
  onlyOurs: string[];
  onlyTheirs: string[];
}

/** Compares file by file, without files unreadable for the grammar: their number is a figure of its own. */
export function compare(ours: Tree, theirs: ReadonlyMap<string, FileReport>): Comparison {
  const result: Comparison = { files: 0, symbols: 0, imports: 0, onlyOurs: [], onlyTheirs: [] };
  for (const [path, report] of theirs) {
    const own = ours.reports.get(path);
    if (own === undefined || ours.broken.has(path)) continue;
    result.files++;
    for (const kind of ['symbols', 'imports'] as const) {
      const left = new Map<string, number>();
      // Two imports of the same module on the same line are a single fact: `const a: typeof import('a') = require('a')`.
      const facts = (lines: readonly string[]) => (kind === 'imports' ? new Set(lines) : lines);
      for (const line of facts(own[kind])) left.set(line, (left.get(line) ?? 0) + 1);
      for (const line of facts(report[kind])) {
        const count = left.get(line) ?? 0;
        if (count === 0) result.onlyTheirs.push(`${path}:${line}`);
        else {
          left.set(line, count - 1);
          result[kind]++;
        }
      }
      for (const [line, count] of left) for (let i = 0; i < count; i++) result.onlyOurs.push(`${path}:${line}`);
    }
  }
  return result;
}
