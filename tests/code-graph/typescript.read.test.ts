import { expect, it } from 'vitest';
import { compare } from './compare.ts';
import { readTypeScript } from './typescript.ts';

it("agrees with TypeScript's own compiler about this repository", async () => {
  const { ours, theirs } = await readTypeScript();
  const { onlyOurs, onlyTheirs, ...counts } = compare(ours, theirs);
  process.stdout.write(`${JSON.stringify({ ...counts, broken: [...ours.broken], unparsed: ours.unparsed })}\n`);
  expect({ onlyOurs, onlyTheirs }).toEqual({ onlyOurs: [], onlyTheirs: [] });
  expect(counts.symbols).toBeGreaterThan(5000);
});
