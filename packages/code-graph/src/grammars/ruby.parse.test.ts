import { describe, expect, it } from 'vitest';
import { readLines } from '../testing/read-facts.ts';
import { sources } from '../testing/sources.ts';

describe('ruby', () => {
  it('reads declarations, imports and uses', async () => {
    expect(await readLines('ruby', sources.ruby)).toEqual({
      symbols: [
        '+module Outer.Inner',
        '+class Outer.Inner.Shape',
        '+constant Outer.Inner.Shape.LIMIT',
        '+field Outer.Inner.Shape.size',
        '+field Outer.Inner.Shape.color',
        '+method Outer.Inner.Shape.initialize',
        '+method Outer.Inner.Shape.build',
        '+method Outer.Inner.Shape.make',
        '+method Outer.Inner.Shape.create',
        '+method top',
        '+class Point',
        'method Point.sum',
      ],
      imports: ['json', '../a', 'late'],
      references: [
        'value Outer',
        'value Base',
        'extends Base.Thing',
        'extends Named',
        'call draw',
        'value Other',
        'call Other.new',
        'call Other.new.run',
        'call [1].each',
        'call use',
        'value Struct',
        'call Struct.new',
      ],
    });
  });
});
