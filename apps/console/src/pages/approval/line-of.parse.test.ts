import fc from 'fast-check';
import { expect, it } from 'vitest';
import { lineOf } from './line-of.ts';

const text = JSON.stringify({ a: 1, 'b/c~d': { list: [{ x: '"},[' }, [], { y: null }] }, e: '{' }, null, 2);
const lines = text.split('\n');

it.each([
  ['', '{'],
  ['/a', '"a": 1'],
  ['/b~1c~0d', '"b/c~d": {'],
  ['/b~1c~0d/list', '"list": ['],
  ['/b~1c~0d/list/0/x', '"x": "\\"},["'],
  ['/b~1c~0d/list/2/y', '"y": null'],
  ['/e', '"e": "{"'],
  ['/b~1c~0d/list/9', '"list": ['],
  ['/nothing', '{'],
])('finds the line of %s', (pointer, line) => {
  expect(lines[lineOf(text, pointer) - 1]?.trim().replace(/,$/, '')).toBe(line);
});

it('finds each member of any JSON text', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1, noNullPrototype: true }), (value) => {
      const shown = JSON.stringify(value, null, 2);
      for (const name of Object.keys(value)) {
        const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
        expect(shown.split('\n')[lineOf(shown, pointer) - 1]?.startsWith(`  ${JSON.stringify(name)}: `)).toBe(true);
      }
    }),
  );
});
