import { expect, it } from 'vitest';
import { compare } from './compare.ts';
import { readPython } from './python.ts';

it('agrees with ast and importlib about the standard library', async () => {
  const { ours, theirs } = await readPython();
  const { onlyOurs, onlyTheirs, ...counts } = compare(ours, theirs);
  console.log({ ...counts, broken: [...ours.broken], unparsed: ours.unparsed });
  expect({ onlyOurs, onlyTheirs }).toEqual({ onlyOurs: [], onlyTheirs: [] });
  expect(counts.symbols).toBeGreaterThan(10_000);
});
