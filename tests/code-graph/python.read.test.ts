import { expect, it } from 'vitest';
import { compare } from './compare.ts';
import { readPython } from './python.ts';

it('agrees with ast and importlib about the standard library', async () => {
  const { ours, theirs } = await readPython();
  const { onlyOurs, onlyTheirs, ...counts } = compare(ours, theirs);
  process.stdout.write(`${JSON.stringify({ ...counts, broken: [...ours.broken], unparsed: ours.unparsed })}\n`);
  expect({ onlyOurs, onlyTheirs }).toEqual({ onlyOurs: [], onlyTheirs: [] });
  expect(counts.symbols).toBeGreaterThan(10_000);
});
