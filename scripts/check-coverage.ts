// Fails when the tests of packages/tools reach less than 95 % of the lines of a tool or of a shared operation: `npm run coverage`.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { z } from 'zod';

const least = 95;
const root = join(import.meta.dirname, '..');
const reportSchema = z.record(
  z.string(),
  z.object({
    s: z.record(z.string(), z.number()),
    statementMap: z.record(z.string(), z.object({ start: z.object({ line: z.int() }) })),
  }),
);

const report = reportSchema.parse(JSON.parse(readFileSync(join(root, '.cache/coverage/coverage-final.json'), 'utf8')));
const files = Object.entries(report)
  .map(([path, { s: counts, statementMap }]) => {
    const text = readFileSync(path, 'utf8').split('\n');
    const reached = new Map<number, boolean>();
    for (const [id, { start }] of Object.entries(statementMap)) {
      // The compiler has shown this line unreachable.
      if (text[start.line - 1]?.includes('satisfies never')) continue;
      reached.set(start.line, reached.get(start.line) === true || (counts[id] ?? 0) > 0);
    }
    const missed = [...reached].flatMap(([line, isReached]) => (isReached ? [] : [line])).sort((a, b) => a - b);
    const percent = reached.size === 0 ? 100 : 100 * (1 - missed.length / reached.size);
    return { path: relative(root, path), percent, missed };
  })
  .sort((a, b) => a.percent - b.percent);

const low = files.filter(({ percent }) => percent < least);
for (const { path, percent, missed } of low) {
  process.stdout.write(`${percent.toFixed(1)} % ${path}: lines ${missed.join(', ')}\n`);
}
const [lowest] = files;
process.stdout.write(
  `${files.length} files, ${low.length} below ${least} %, the lowest ${lowest?.percent.toFixed(1)} %\n`,
);
if (files.length === 0 || low.length > 0) process.exitCode = 1;
