import { describe, expect, it } from 'vitest';
import { readLines } from '../testing/read-facts.ts';

describe('python', () => {
  it('reads declarations', async () => {
    expect(
      await readLines(
        'python',
        `
LIMIT: int = 1
a, (b, c) = 1, 2
_hidden = 1
__all__ = ["Thing", "_listed"]
def _listed(): pass
class Thing(Base, models.Model, metaclass=Meta):
    size: int
    count = 0
    @property
    async def name(self, q, *args, s: Kind = None) -> "R":
        local = LIMIT
        def inner(): return local
        return [w for w in q if helper(w)] + self.count
if LIMIT:
    def conditional(x): return lambda y: x(y)
else:
    fallback = None
type Alias = list[int]
`,
      ),
    ).toEqual({
      symbols: [
        '+constant LIMIT',
        '+variable a',
        '+variable b',
        '+variable c',
        'variable _hidden',
        '+variable __all__',
        '+function _listed',
        '+class Thing',
        '+field Thing.size',
        '+field Thing.count',
        '+method Thing.name',
        'function Thing.name.inner',
        '+function conditional',
        '+variable fallback',
        '+type Alias',
      ],
      imports: [],
      references: [
        'type int',
        'extends Base',
        'extends models.Model',
        'type int',
        'call property',
        'type Kind',
        'value LIMIT',
        'call helper',
        'value self.count',
        'value LIMIT',
        'type list',
      ],
    });
  });

  it('reads imports', async () => {
    expect(
      await readLines(
        'python',
        `
import os.path as p, sys, a.b
from . import sibling
from ..parent.module import (one, two as second)
from star import *
from __future__ import annotations
importlib.import_module("plugins.x")
def lazy():
    from .late import thing
    return thing(p.join(a.b.c()))
`,
      ),
    ).toEqual({
      symbols: ['+function lazy'],
      imports: [
        'os.path as p',
        'sys as sys',
        'a.b as a.b',
        '. {sibling}',
        '..parent.module {one, two as second}',
        'star {*}',
        '__future__ {annotations}',
        'plugins.x',
        '.late {thing}',
      ],
      references: ['call thing', 'value p', 'call p.join', 'value a', 'value a.b', 'call a.b.c'],
    });
  });

  it('reads the fields of each class of one name, once', async () => {
    const text =
      'if x:\n    class A:\n        a = 1\n        a = 2\nelse:\n    class A:\n        a = 3\nb = 1\nb = 2\n';
    const { symbols } = await readLines('python', text);
    expect(symbols).toEqual(['+class A', '+field A.a', '+class A', '+field A.a', '+variable b']);
  });
});
