import { describe, expect, it } from 'vitest';
import { readLines } from '../testing/read-facts.ts';
import { sources } from '../testing/sources.ts';

describe('php', () => {
  it('reads declarations, imports and uses', async () => {
    expect(await readLines('php', sources.php)).toEqual({
      symbols: [
        '+module App\\Shapes',
        '+class App\\Shapes.Shape',
        '+constant App\\Shapes.Shape.LIMIT',
        '+field App\\Shapes.Shape.count',
        'field App\\Shapes.Shape.hidden',
        '+method App\\Shapes.Shape.__construct',
        'field App\\Shapes.Shape.size',
        '+method App\\Shapes.Shape.draw',
        '+interface App\\Shapes.Drawable',
        '+method App\\Shapes.Drawable.area',
        '+class App\\Shapes.Named',
        '+method App\\Shapes.Named.name',
        '+enum App\\Shapes.Suit',
        '+field App\\Shapes.Suit.Hearts',
        '+function App\\Shapes.top',
        '+constant App\\Shapes.TOP',
        '+constant App\\Shapes.OLD',
      ],
      imports: [
        'Lib\\Base {Base}',
        'Lib\\Canvas {Canvas as Board}',
        'Lib\\paint {paint}',
        'Lib\\One {One}',
        'Lib\\Two {Two as Second}',
        'boot.php',
        './more.php',
      ],
      references: [
        'extends Base',
        'extends Drawable',
        'extends Named',
        'type Board',
        'type Result',
        'call Size',
        'call paint',
        'call $this.draw',
        'call self.make',
        'type Other',
        'value Other.LIMIT',
        'value $a.b',
        'call $a->b.c',
        'extends Part',
        'call define',
      ],
    });
  });
});
