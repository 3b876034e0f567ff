import { describe, expect, it } from 'vitest';
import { readLines } from '../testing/read-facts.ts';
import { sources } from '../testing/sources.ts';

describe('java', () => {
  it('reads declarations, imports and uses', async () => {
    expect(await readLines('java', sources.java)).toEqual({
      symbols: [
        '+module com.example.shapes',
        '+class Shape',
        'constant Shape.LIMIT',
        'constant Shape.OTHER',
        'field Shape.color',
        '+field Shape.label',
        '+method Shape.Shape',
        '+method Shape.draw',
        'method Shape.hidden',
        '+interface Shape.Part',
        '+method Shape.Part.weight',
        '+enum Shape.Kind',
        '+field Shape.Kind.BIG',
        '+field Shape.Kind.SMALL',
        '+field Shape.Kind.order',
        '+class Shape.Point',
        '+field Shape.Point.x',
        '+field Shape.Point.y',
      ],
      imports: ['java.util.List {List}', 'java.lang.Math {abs}', 'java.io {*}'],
      references: [
        'type Named',
        'type Base',
        'extends Parent',
        'extends Drawable',
        'type other',
        'extends other.Sized',
        'type Color',
        'type String',
        'value this.size',
        'call Size',
        'type Override',
        'type Canvas',
        'type Failure',
        'call abs',
        'value LIMIT',
        'call to.draw',
        'type Runnable',
        'call run',
        'call super.draw',
        'extends Piece',
        'type String',
      ],
    });
  });
});
