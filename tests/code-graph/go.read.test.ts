import { expect, it } from 'vitest';
import { compare } from './compare.ts';
import { readGo } from './go.ts';

it('agrees with go/parser about the standard library of Go', async () => {
  const { ours, theirs } = await readGo();
  const { onlyOurs, onlyTheirs, ...counts } = compare(ours, theirs);
  process.stdout.write(`${JSON.stringify({ ...counts, broken: [...ours.broken], unparsed: ours.unparsed })}\n`);
  expect({ onlyOurs, onlyTheirs }).toEqual({ onlyOurs: [], onlyTheirs: [] });
  expect(counts.symbols).toBeGreaterThan(10_000);
});
