import { describe, expect, it } from 'vitest';
import { readLines } from '../testing/read-facts.ts';
import { sources } from '../testing/sources.ts';

describe('rust', () => {
  it('reads declarations, imports and uses', async () => {
    expect(await readLines('rust', sources.rust)).toEqual({
      symbols: [
        '+class Shape',
        '+field Shape.size',
        'field Shape.hidden',
        '+enum Kind',
        '+field Kind.Small',
        '+field Kind.Big',
        '+interface Named',
        '+method Named.name',
        '+constant Named.MAX',
        '+type Named.Item',
        '+method Shape.name',
        'constant Shape.LOW',
        '+method Shape.build',
        'method Shape.own',
        '+constant LIMIT',
        'variable STATE',
        'type Alias',
        '+function shout',
        'module tests',
        'function tests.check',
      ],
      imports: [
        'std::io as io',
        'std::io {Read as R}',
        'std::fmt {*}',
        '+crate::shapes {Circle}',
        'super {parent}',
        'serde as s',
        'self::child as child',
        'self {*}',
        'super {up}',
        'self::tests::x {y}',
      ],
      references: [
        'extends Super',
        'type String',
        'extends Named',
        'type Shape',
        'type String',
        'value self.size',
        'call self.size.show',
        'value child',
        'call child.run',
        'call shout',
        'value parent',
        'call Self.build',
        'type Shape',
        'value Kind',
        'value Kind.Small',
        'type Shape',
      ],
    });
  });
});
