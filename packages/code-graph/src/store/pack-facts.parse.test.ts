import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FileFacts, fileFactsSchema } from '../facts.ts';
import { packFacts, unpackFacts } from './pack-facts.ts';

const { symbols, references } = fileFactsSchema.shape;
const place = fc.record({ line: fc.nat(), column: fc.nat() });
const name = fc.string({ maxLength: 5 });
const facts: fc.Arbitrary<FileFacts> = fc.record({
  symbols: fc.array(
    fc.record(
      {
        ...{ name, kind: fc.constantFrom(...symbols.element.shape.kind.options), container: fc.array(name) },
        ...{ exported: fc.boolean(), exported_as: fc.array(name), start: place, end: place },
      },
      { requiredKeys: ['name', 'kind', 'container', 'exported', 'start', 'end'] },
    ),
  ),
  imports: fc.array(
    fc.record(
      {
        ...{ source: name, names: fc.array(fc.record({ name, as: name })), whole: name },
        ...{ reexport: fc.boolean(), start: place },
      },
      { requiredKeys: ['source', 'names', 'reexport', 'start'] },
    ),
  ),
  references: fc.array(
    fc.record(
      { name, qualifier: name, kind: fc.constantFrom(...references.element.shape.kind.options), start: place },
      { requiredKeys: ['name', 'kind', 'start'] },
    ),
  ),
  has_errors: fc.boolean(),
  cut: fc.boolean(),
});

test('packed facts are the same facts', () => {
  fc.assert(
    fc.property(facts, (written) => {
      // As they come from the parser: through JSON.
      const given = fileFactsSchema.parse(JSON.parse(JSON.stringify(written)));
      expect(unpackFacts(packFacts(given))).toEqual(given);
    }),
  );
});

test('every field of a fact is packed', () => {
  const fields = [symbols.element, references.element].map(({ shape }) => Object.keys(shape).sort());
  expect(fields).toEqual([
    ['container', 'end', 'exported', 'exported_as', 'kind', 'name', 'start'],
    ['kind', 'name', 'qualifier', 'start'],
  ]);
});
