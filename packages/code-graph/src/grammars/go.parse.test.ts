import { describe, expect, it } from 'vitest';
import { readLines } from '../testing/read-facts.ts';
import { sources } from '../testing/sources.ts';

describe('go', () => {
  it('reads declarations, imports and uses', async () => {
    expect(await readLines('go', sources.go)).toEqual({
      symbols: [
        '+module shapes',
        '+constant First',
        'constant second',
        '+variable X',
        'variable y',
        '+class Shape',
        '+field Shape.Size',
        'field Shape.width',
        'field Shape.inner',
        '+interface Named',
        '+method Named.Name',
        '+type Alias',
        '+class Box',
        'field Box.items',
        '+function Make',
        '+method Shape.Area',
        'method Box.get',
      ],
      imports: ['fmt as fmt', 'math/rand as r', 'dotted {*}', 'side', 'gopkg.in/yaml.v3 as yaml'],
      references: [
        'extends Base',
        'extends pkg.Other',
        'extends fmt.Stringer',
        'type Shape',
        'value items',
        'value fmt',
        'call fmt.Println',
        'value second',
        'call helper',
        'type Shape',
        'type Shape',
        'value s.Size',
        'value r',
        'call r.Int',
        'type Box',
        'type K',
      ],
    });
  });

  it('reads lists of names, and what two types of one name declare', async () => {
    const { symbols } = await readLines(
      'go',
      `package lists
const (
	a, b = 1, 2
	c, _ = 1, 2
	_, d = 1, 2
)
const e, f int = 1, 2
var g, _, h = 1, 2, 3
func _() {}
func choose() {
	switch {
	case a: type u struct { x, y int }
	case b: type u struct { x int }
	}
}
`,
    );
    expect(symbols).toEqual([
      '+module lists',
      ...['constant a', 'constant b', 'constant c', 'constant d', 'constant e', 'constant f'],
      ...['variable g', 'variable h'],
      ...['function choose', 'class choose.u', 'field choose.u.x', 'field choose.u.y'],
      ...['class choose.u', 'field choose.u.x'],
    ]);
  });
});
