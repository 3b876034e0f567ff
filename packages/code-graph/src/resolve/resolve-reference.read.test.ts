import { beforeAll, describe, expect, test } from 'vitest';
import type { ReferenceFact } from '../facts.ts';
import { openSources } from '../testing/open-sources.ts';
import type { ReadableGraph, SymbolPlace } from './readable-graph.ts';
import { resolveReference } from './resolve-reference.ts';

interface TreeTable {
  title: string;
  files: Record<string, string>;
  /** `file:line qualifier.name`, and the places that it may mean: `file:line how`; `-` when there are none. */
  leads: Record<string, string>;
}

const tables: TreeTable[] = [
  {
    title: 'TypeScript: imports, re-exports, members and what is local',
    files: {
      'shape.ts': `export class Shape {
  area(): number { return this.scale(1); }
  scale(by: number): number { return by; }
  static unit = 1;
}
export default function make(): Shape { return new Shape(); }
function hidden() {}
export const limit = 1;
`,
      'index.ts': `export { Shape as Figure } from './shape.ts';
export * from './shape.ts';
export * as all from './shape.ts';
export * from './loop.ts';
`,
      'loop.ts': "export * from './index.ts';\n",
      'use.ts': `import build, { limit as most, Shape } from './shape.ts';
import * as shapes from './shape.ts';
import { Figure, limit } from './index.ts';
import { missing } from './index.ts';
import { join } from 'node:path';
class Circle extends Shape {
  go() { return this.area(); }
}
build(most);
new shapes.Shape();
shapes.hidden();
let one: Figure = build();
join(limit, Shape.unit);
missing();
hidden();
one.area();
function inner(limit: number) { return build(limit); }
join.area();
`,
    },
    leads: {
      'shape.ts:2 this.scale': 'shape.ts:3 same_file',
      'shape.ts:6 Shape': 'shape.ts:1 same_file',
      'use.ts:6 Shape': 'shape.ts:1 import',
      'use.ts:7 this.area': 'shape.ts:2 member',
      'use.ts:9 build': 'shape.ts:6 import',
      'use.ts:9 most': 'shape.ts:8 import',
      'use.ts:10 shapes.Shape': 'shape.ts:1 member',
      'use.ts:11 shapes.hidden': 'shape.ts:7 member',
      'use.ts:12 Figure': 'shape.ts:1 import',
      'use.ts:13 join': '-',
      'use.ts:13 limit': 'shape.ts:8 import',
      'use.ts:13 Shape.unit': 'shape.ts:4 member',
      'use.ts:14 missing': '-',
      'use.ts:15 hidden': '-',
      'use.ts:16 one.area': 'shape.ts:2 name',
      'use.ts:17 build': 'shape.ts:6 import',
      'use.ts:18 join.area': '-',
    },
  },
  {
    title: 'TypeScript: a type and a value of one name',
    files: {
      'a.ts': 'export interface Thing { x: number }\nexport const Thing = 1;\n',
      'b.ts': "import { Thing } from './a.ts';\nlet a: Thing;\nconsole.log(Thing);\nclass B implements Thing {}\n",
    },
    leads: {
      'b.ts:2 Thing': 'a.ts:1 import',
      'b.ts:3 Thing': 'a.ts:1 import, a.ts:2 import',
      'b.ts:4 Thing': 'a.ts:1 import',
    },
  },
  {
    title: 'JavaScript: require, and scripts that share their globals',
    files: {
      'lib.js': 'function run() {}\nmodule.exports = { run, go: run };\n',
      'main.js': "const { go } = require('./lib');\nconst lib = require('./lib');\ngo();\nlib.run();\nshared();\n",
      'one.js': 'function shared() {}\n',
      'two.js': 'shared();\n',
    },
    leads: {
      'main.js:3 go': 'lib.js:1 import',
      'main.js:4 lib.run': 'lib.js:1 member',
      'main.js:5 shared': '-',
      'two.js:1 shared': 'one.js:1 name',
    },
  },
  {
    title: 'Python: modules, names passed on, superclasses',
    files: {
      'pkg/__init__.py': 'from .base import Base, helper as aid\n',
      'pkg/base.py': 'class Base:\n    def run(self): pass\ndef helper(): pass\n',
      'pkg/star.py': 'from pkg.base import *\nhelper()\n',
      'main.py': `from pkg import Base, aid
import pkg.base
from pkg import base as b
import os
class Child(Base):
    def go(self): return self.run()
aid()
pkg.base.helper()
b.helper()
os.run()
print(1)
`,
    },
    leads: {
      'pkg/star.py:2 helper': 'pkg/base.py:3 import',
      'main.py:5 Base': 'pkg/base.py:1 import',
      'main.py:6 self.run': 'pkg/base.py:2 member',
      'main.py:7 aid': 'pkg/base.py:3 import',
      'main.py:8 pkg.base.helper': 'pkg/base.py:3 member',
      'main.py:9 b.helper': 'pkg/base.py:3 member',
      'main.py:10 os.run': '-',
    },
  },
  {
    title: 'Go: the folder is the package',
    files: {
      'go.mod': 'module m\n',
      'main.go': `package main
import "m/shapes"
func main() { helper(); shapes.New(); x := shapes.Shape{}; x.Area(); New() }
`,
      'other.go': 'package main\nfunc helper() {}\n',
      'shapes/s.go':
        'package shapes\ntype Shape struct { Size int }\nfunc (s Shape) Area() int { return s.Size }\nfunc New() Shape { return helper() }\n',
      'shapes/t.go': 'package shapes\nfunc helper() Shape { return Shape{} }\n',
    },
    leads: {
      'main.go:3 helper': 'other.go:2 same_package',
      'main.go:3 shapes.New': 'shapes/s.go:4 member',
      'main.go:3 shapes.Shape': 'shapes/s.go:2 member',
      'main.go:3 x.Area': 'shapes/s.go:3 name',
      'main.go:3 New': '-',
      'shapes/s.go:4 helper': 'shapes/t.go:2 same_package',
      'shapes/t.go:2 Shape': 'shapes/s.go:2 same_package',
    },
  },
  {
    title: 'Java: the package, imports and superclasses',
    files: {
      'com/a/Base.java':
        'package com.a;\npublic class Base {\n  protected void run() {}\n  public static int count() { return 1; }\n}\n',
      'com/b/Base.java': 'package com.b;\npublic class Base {}\n',
      'com/a/Peer.java':
        'package com.a;\nclass Peer extends Base {\n  void go() { this.run(); Base.count(); own(); }\n  void own() {}\n}\n',
      'com/c/Far.java':
        'package com.c;\nimport com.b.Base;\nimport static com.a.Base.count;\nclass Far {\n  Base base = new Base();\n  int n = count();\n}\n',
    },
    leads: {
      'com/a/Peer.java:2 Base': 'com/a/Base.java:2 same_package',
      'com/a/Peer.java:3 this.run': 'com/a/Base.java:3 member',
      'com/a/Peer.java:3 Base.count': 'com/a/Base.java:4 member',
      'com/a/Peer.java:3 own': 'com/a/Peer.java:4 same_file',
      'com/c/Far.java:5 Base': 'com/b/Base.java:2 import',
      'com/c/Far.java:6 count': 'com/a/Base.java:4 import',
    },
  },
  {
    title: 'Rust: uses, and methods of the type',
    files: {
      'Cargo.toml': '[package]\nname = "app"\n',
      'src/main.rs':
        'mod shape;\nuse crate::shape::{make, Shape};\nuse std::fs::read;\nfn main() { make(); read(); Shape::build(); shape::make(); }\n',
      'src/shape.rs':
        'pub struct Shape;\nimpl Shape {\n  pub fn build() -> Self { Self::own() }\n  fn own() -> Self { Shape }\n}\npub fn make() -> Shape { Shape }\n',
      'src/other.rs': 'pub fn read() {}\n',
    },
    leads: {
      'src/main.rs:4 make': 'src/shape.rs:6 import',
      'src/main.rs:4 read': '-',
      'src/main.rs:4 Shape.build': 'src/shape.rs:3 member',
      'src/main.rs:4 shape.make': 'src/shape.rs:6 member',
      'src/shape.rs:3 Self.own': 'src/shape.rs:4 same_file',
      'src/shape.rs:6 Shape': 'src/shape.rs:1 same_file',
    },
  },
  {
    title: 'C: what the included files declare',
    files: {
      'main.c':
        '#include "a.h"\n#include <stdio.h>\nint main(void) { struct Point p; printf("x"); return add(LIMIT); }\n',
      'a.h': '#include "b.h"\nstruct Point { int x; };\n',
      'b.h': '#define LIMIT 1\nint add(int a);\n',
      'far.h': 'int add(int a);\n',
    },
    leads: {
      'main.c:3 Point': 'a.h:2 import',
      'main.c:3 add': 'b.h:2 import',
      'main.c:3 LIMIT': 'b.h:1 import',
      'main.c:3 printf': '-',
    },
  },
  {
    title: 'C#: namespaces around and used',
    files: {
      'A.cs': 'namespace App.A { public class Base { public void Run() {} } }\n',
      'B.cs':
        'using App.A;\nnamespace App.B { class Child : Base { void Go() { this.Run(); new Peer(); new Top(); } } }\n',
      'C.cs': 'namespace App.B { class Peer {} }\n',
      'E.cs':
        'namespace App.E { public class Base { public void Run() {} } public class Left : Base {} class Own { void Run() { this.Run(); } void Go() { this.Stop(); } } class Other : Stopper {} class Stopper { public void Stop() {} } }\n',
      'D.cs': 'namespace App { class Top {} }\n',
    },
    leads: {
      'B.cs:2 Base': 'A.cs:1 import',
      'B.cs:2 this.Run': 'A.cs:1 member',
      'E.cs:1 this.Stop': 'E.cs:1 name',
      'B.cs:2 Peer': 'C.cs:1 same_package',
      'B.cs:2 Top': 'D.cs:1 same_package',
    },
  },
  {
    title: 'PHP: uses and the namespace',
    files: {
      'composer.json': '{"autoload":{"psr-4":{"App\\\\":"src/"}}}',
      'src/Base.php':
        '<?php\nnamespace App;\nclass Base { public function run() {} public static function make() {} }\n',
      'src/Peer.php':
        '<?php\nnamespace App;\nclass Peer extends Base { function go() { $this->run(); Base::make(); } }\n',
      'web/page.php': '<?php\nnamespace Web;\nuse App\\Base as B;\nnew B();\nB::make();\n',
    },
    leads: {
      'src/Peer.php:3 Base': 'src/Base.php:3 same_package',
      'src/Peer.php:3 $this.run': 'src/Base.php:3 member',
      'src/Peer.php:3 Base.make': 'src/Base.php:3 member',
      'web/page.php:4 B': 'src/Base.php:3 import',
      'web/page.php:5 B.make': 'src/Base.php:3 member',
    },
  },
  {
    title: 'Ruby and shell scripts: whole files',
    files: {
      'main.rb': "require_relative 'lib/a'\nclass Child < Base\n  def go; run; end\nend\nhelp(1)\n",
      'lib/a.rb': "require_relative 'b'\nclass Base\n  def run; end\nend\n",
      'lib/b.rb': 'def help(x); end\n',
      'main.sh': '. ./lib.sh\ngreet\nunknown_command\n',
      'lib.sh': 'greet() { echo; }\n',
      'other.sh': 'unknown() { echo; }\n',
    },
    leads: {
      'main.rb:2 Base': 'lib/a.rb:2 import',
      'main.rb:5 help': 'lib/b.rb:1 import',
      'main.sh:2 greet': 'lib.sh:1 import',
      'main.sh:3 unknown_command': '-',
    },
  },
];

describe.each(tables)('$title', ({ files, leads }) => {
  let graph: ReadableGraph;
  beforeAll(async () => {
    graph = await openSources(files);
  });

  test.each(Object.entries(leads))('%s → %s', (written, expected) => {
    const [, path = '', line, name = ''] = /^(\S+):(\d+) (\S+)$/.exec(written) ?? [];
    const isMeant = ({ start, qualifier, name: used }: ReferenceFact) =>
      start.line === Number(line) && (qualifier === undefined ? used : `${qualifier}.${used}`) === name;
    const uses = graph.factsOf(path)?.references.filter(isMeant) ?? [];
    expect(uses).not.toEqual([]);
    const lineOf = (place: SymbolPlace) => graph.factsOf(place.path)?.symbols[place.index]?.start.line;
    const found = uses.map((reference) => {
      const candidates = resolveReference(graph, { path, reference });
      return candidates.map((one) => `${one.path}:${lineOf(one)} ${one.how}`).join(', ') || '-';
    });
    expect([...new Set(found)]).toEqual([expected]);
  });
});
