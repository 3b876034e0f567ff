import { describe, expect, it } from 'vitest';
import { readLines } from '../testing/read-facts.ts';

describe('c', () => {
  it('reads C and C++', async () => {
    expect(
      await readLines(
        'cpp',
        `
#include <stdio.h>
#include "a/b.h"
#define DOUBLE(x) x * 2
#define LIMIT 1
namespace outer::inner {
class Shape : public Base, private Part<Piece> { public: int size; Shape(); ~Shape(); virtual void draw(int to) = 0; static int count; void inlined() { size = 1; } enum Kind { Big }; };
template<class T> struct Box { T item; };
}
void Shape::draw(int to) { int local; paint(local); this->draw(); other->go(); ns::call(); new Shape(); }
static int hidden(void) { return LIMIT; }
typedef struct { int a; } Plain; typedef int (*callback)(int); struct Forward; struct Named { int a, *b; };
enum Color { Red = 1 }; using Alias = int; extern int shared; int shared = 1, *list[3]; int prototype(int a);
namespace { int anonymous; }
int *pointer(int a) { return 0; }
`,
      ),
    ).toEqual({
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
