import { describe, expect, it } from 'vitest';
import { readLines } from '../testing/read-facts.ts';
import { sources } from '../testing/sources.ts';

describe('c', () => {
  it('reads C and C++', async () => {
    expect(await readLines('cpp', sources.cpp)).toEqual({
      symbols: [
        '+function DOUBLE',
        '+constant LIMIT',
        '+module outer::inner',
        '+class outer::inner.Shape',
        '+field outer::inner.Shape.size',
        '+method outer::inner.Shape.Shape',
        '+method outer::inner.Shape.~Shape',
        '+method outer::inner.Shape.draw',
        '+field outer::inner.Shape.count',
        '+method outer::inner.Shape.inlined',
        '+enum outer::inner.Shape.Kind',
        '+constant outer::inner.Shape.Kind.Big',
        '+class outer::inner.Box',
        '+field outer::inner.Box.item',
        '+method Shape.draw',
        'function hidden',
        '+class Plain',
        '+field Plain.a',
        '+type callback',
        '+class Named',
        '+field Named.a',
        '+field Named.b',
        '+enum Color',
        '+constant Color.Red',
        '+type Alias',
        '+variable shared',
        '+variable list',
        '+function prototype',
        'variable anonymous',
        '+function pointer',
      ],
      imports: ['<stdio.h>', 'a/b.h'],
      references: [
        'extends Base',
        'extends Part',
        'type Piece',
        'value size',
        'call paint',
        'call this.draw',
        'value other',
        'call other.go',
        'call ns.call',
        'call Shape',
        'value LIMIT',
        'type Forward',
      ],
    });
  });
});
