import { describe, expect, it, test } from 'vitest';
import type { ImportFact } from '../facts.ts';
import type { Language } from '../grammars/grammar-of.ts';
import { isConfiguration, openImportResolver } from './open-import-resolver.ts';

interface TreeTable {
  title: string;
  language: Language;
  /** Paths with a space between them, besides those of `configuration`. */
  files: string;
  configuration?: Record<string, unknown>;
  /** The files that declare a module. */
  modules?: Record<string, string[]>;
  /** `importing file: source {names}`, and where it leads: files, `(package)` outside the tree, or `unknown`. */
  leads: Record<string, string>;
}

const tables: TreeTable[] = [
  {
    title: 'relative paths',
    language: 'typescript',
    files:
      'a.ts src/b.ts src/b.js src/c.tsx src/d/index.ts src/e.d.ts src/f.json src/g.mts src/h.vue up.ts src/i.js src/i/index.ts lone/x.txt',
    leads: {
      'a.ts: ./src/b {x}': 'src/b.ts',
      'a.ts: ./src/b.ts': 'src/b.ts',
      'a.ts: ./src/b.js': 'src/b.ts',
      'a.ts: ./src/c.js': 'src/c.tsx',
      'a.ts: ./src/d': 'src/d/index.ts',
      'a.ts: ./src/d/': 'src/d/index.ts',
      'a.ts: ./src/e': 'src/e.d.ts',
      'a.ts: ./src/f.json': 'src/f.json',
      'a.ts: ./src/g.mjs': 'src/g.mts',
      'a.ts: ./src/h.vue?raw': 'src/h.vue',
      'a.ts: ./src/i': 'src/i.js',
      'a.ts: ./lone': 'unknown',
      'a.ts: ./missing': 'unknown',
      'src/d/index.ts: ..': 'unknown',
      'src/d/index.ts: ../b.ts': 'src/b.ts',
      'src/d/index.ts: ../../up': 'up.ts',
      'src/d/index.ts: ../../../up': 'unknown',
      'a.ts: ../a.ts': 'unknown',
      'a.ts: /a.ts': 'unknown',
    },
  },
  {
    title: 'a script finds the script first',
    language: 'javascript',
    files: 'main.js b.js b.ts c.ts lib/index.js',
    leads: {
      'main.js: ./b': 'b.js',
      'main.js: ./b.js': 'b.js',
      'main.js: ./c': 'c.ts',
      'main.js: ./lib': 'lib/index.js',
    },
  },
  {
    title: 'built-in and installed packages',
    language: 'typescript',
    files: 'a.ts fs.ts react.ts',
    leads: {
      'a.ts: node:fs/promises': '(fs)',
      'a.ts: fs': '(fs)',
      'a.ts: react': '(react)',
      'a.ts: react/jsx-runtime': '(react)',
      'a.ts: @scope/name/deep/path': '(@scope/name)',
    },
  },
  {
    title: 'packages of the tree',
    language: 'typescript',
    files:
      'packages/a/src/index.ts packages/a/src/deep/x.ts packages/a/src/secret.ts packages/b/main.ts packages/b/other.ts packages/c/src/index.ts packages/d/src/index.ts',
    configuration: {
      'packages/a/package.json': {
        name: '@our/a',
        exports: { '.': { types: './src/index.ts' }, './deep/*': './src/deep/*.ts' },
        imports: { '#secret': './src/secret.ts', '#deep/*': './src/deep/*.ts' },
      },
      'packages/b/package.json': { name: 'b', main: './main.ts' },
      'packages/c/package.json': { name: 'c', main: './dist/index.js' },
      'packages/d/package.json': '{ broken',
    },
    leads: {
      'packages/b/main.ts: @our/a': 'packages/a/src/index.ts',
      'packages/b/main.ts: @our/a/deep/x': 'packages/a/src/deep/x.ts',
      'packages/b/main.ts: @our/a/secret': 'unknown',
      'packages/b/main.ts: c': 'packages/c/src/index.ts',
      'packages/b/main.ts: d': '(d)',
      'packages/b/main.ts: #secret': 'unknown',
      'packages/a/src/index.ts: #secret': 'packages/a/src/secret.ts',
      'packages/a/src/index.ts: #deep/x': 'packages/a/src/deep/x.ts',
      'packages/a/src/index.ts: b': 'packages/b/main.ts',
      'packages/a/src/index.ts: b/other': 'packages/b/other.ts',
    },
  },
  {
    title: 'paths and baseUrl of tsconfig.json',
    language: 'typescript',
    files:
      'app/main.ts app/src/ui/button.ts app/src/ui/index.ts app/generated/x.ts app/src/x.ts plain/a.ts plain/b.ts src/far.ts',
    configuration: {
      'tsconfig.base.json': { compilerOptions: { paths: { '~far': ['./src/far.ts'] } } },
      'app/tsconfig.json':
        '// comment\n{ "extends": "../tsconfig.base", "compilerOptions": { "baseUrl": ".", "paths": { "@/*": ["generated/*", "src/*",], "@/ui/*": ["src/ui/*"] } } }',
      'plain/tsconfig.json': { extends: '../tsconfig.base.json' },
      'loop/tsconfig.json': { extends: '../loop/tsconfig.json', compilerOptions: { baseUrl: '../../..' } },
    },
    leads: {
      'app/main.ts: @/x': 'app/generated/x.ts',
      'app/main.ts: @/ui/button': 'app/src/ui/button.ts',
      'app/main.ts: @/ui': 'app/src/ui/index.ts',
      'app/main.ts: src/ui/button': 'app/src/ui/button.ts',
      'app/main.ts: @/missing': '(@/missing)',
      'plain/a.ts: ~far': 'src/far.ts',
      'plain/a.ts: plain/b': '(plain)',
      'loop/a.ts: app/main': '(app)',
    },
  },
  {
    title: 'modules and packages',
    language: 'python',
    files:
      'tool.py pkg/__init__.py pkg/a.py pkg/a_test.py pkg/sub/__init__.py pkg/sub/b.py pkg/types.pyi spaces/part/m.py json/__init__.py',
    leads: {
      'tool.py: pkg': 'pkg/__init__.py',
      'tool.py: pkg.a': 'pkg/a.py',
      'tool.py: pkg {a}': 'pkg/a.py',
      'tool.py: pkg {a, Thing}': 'pkg/__init__.py pkg/a.py',
      'tool.py: pkg {Thing}': 'pkg/__init__.py',
      'tool.py: pkg {*}': 'pkg/__init__.py',
      'tool.py: pkg.a.Thing': 'pkg/a.py',
      'tool.py: pkg.types {T}': 'pkg/types.pyi',
      'tool.py: spaces.part.m': 'spaces/part/m.py',
      'tool.py: json {dumps}': 'json/__init__.py',
      'tool.py: os.path': '(os)',
      'tool.py: __main__': '(__main__)',
      'pkg/a.py: . {sub}': 'pkg/sub/__init__.py',
      'pkg/a.py: .sub.b {x}': 'pkg/sub/b.py',
      'pkg/a.py: .missing {x}': 'unknown',
      'pkg/sub/b.py: .. {a}': 'pkg/a.py',
      'pkg/sub/b.py: ..a {x}': 'pkg/a.py',
      'pkg/sub/b.py: . {x}': 'pkg/sub/__init__.py',
      'pkg/sub/b.py: ....pkg {a}': 'unknown',
      'pkg/sub/b.py: pkg.a': 'pkg/a.py',
    },
  },
  {
    title: 'projects with a src folder',
    language: 'python',
    files: 'one/src/app/__init__.py one/src/app/x.py one/tests/test_x.py one/tests/help.py',
    configuration: { 'one/pyproject.toml': '' },
    leads: {
      'one/tests/test_x.py: app.x {y}': 'one/src/app/x.py',
      'one/tests/test_x.py: help {y}': 'one/tests/help.py',
      'one/tests/test_x.py: pytest': '(pytest)',
    },
  },
  {
    title: 'modules of the tree',
    language: 'go',
    files:
      'main.go pkg/a.go pkg/b.go pkg/a_test.go pkg/notes.txt vendor/x.io/dep/d.go tools/t.go tools/sub/s.go fork/f.go',
    configuration: {
      'go.mod':
        'module example.com/app\n\nrequire (\n\tx.io/lib/v2 v2.1.0\n\texample.org/forked v1.0.0\n)\nreplace example.org/forked => ./fork\n',
      'tools/go.mod': 'module example.com/app/tools\n',
    },
    leads: {
      'main.go: example.com/app/pkg': 'pkg/a.go pkg/b.go',
      'pkg/a.go: example.com/app': 'main.go',
      'main.go: example.com/app/tools/sub': 'tools/sub/s.go',
      'main.go: example.com/app/missing': 'unknown',
      'main.go: example.com/application': '(example.com/application)',
      'main.go: x.io/dep': 'vendor/x.io/dep/d.go',
      'main.go: x.io/lib/v2/deep': '(x.io/lib/v2)',
      'main.go: example.org/forked': 'fork/f.go',
      'main.go: fmt': '(fmt)',
      'main.go: unsafe': '(unsafe)',
      'main.go: C': '(C)',
      'main.go: ./pkg': 'pkg/a.go pkg/b.go',
    },
  },
  {
    title: 'packages below any source folder',
    language: 'java',
    files:
      'src/main/java/com/x/A.java src/main/java/com/x/B.java src/test/java/com/x/ATest.java other/com/y/Outer.java x/A.java',
    leads: {
      'src/main/java/com/x/A.java: com.x.B {B}': 'src/main/java/com/x/B.java',
      'src/main/java/com/x/A.java: com.x {*}':
        'src/main/java/com/x/A.java src/main/java/com/x/B.java src/test/java/com/x/ATest.java',
      'src/main/java/com/x/A.java: com.y.Outer.Inner {Inner}': 'other/com/y/Outer.java',
      'src/main/java/com/x/A.java: com.y.Outer {make}': 'other/com/y/Outer.java',
      'src/main/java/com/x/A.java: java.util.List {List}': '(java.util)',
      'src/main/java/com/x/A.java: java.util {*}': '(java.util)',
      'src/main/java/com/x/A.java: om.x.A {A}': '(om.x)',
    },
  },
  {
    title: 'modules of a crate, and other crates of the tree',
    language: 'rust',
    files:
      'app/src/main.rs app/src/a.rs app/src/a/deep.rs app/src/b/mod.rs app/src/b/c.rs app/src/bin/tool.rs lib-one/src/lib.rs lib-one/src/x.rs',
    configuration: {
      'app/Cargo.toml': '[package]\nname = "app"\n',
      'lib-one/Cargo.toml': '[package]\nversion = "1"\nname = "lib-one"\n\n[[bin]]\nname = "other"\n',
    },
    leads: {
      'app/src/main.rs: self::a': 'app/src/a.rs',
      'app/src/main.rs: crate::a {f}': 'app/src/a.rs',
      'app/src/main.rs: crate::a::deep {f}': 'app/src/a/deep.rs',
      'app/src/main.rs: crate {b}': 'app/src/b/mod.rs',
      'app/src/main.rs: crate {Thing}': 'app/src/main.rs',
      'app/src/a.rs: self::deep': 'app/src/a/deep.rs',
      'app/src/a/deep.rs: super {f}': 'app/src/a.rs',
      'app/src/a/deep.rs: super::super::b {f}': 'app/src/b/mod.rs',
      'app/src/b/mod.rs: self::c': 'app/src/b/c.rs',
      'app/src/b/c.rs: super {f}': 'app/src/b/mod.rs',
      'app/src/main.rs: lib_one::x {f}': 'lib-one/src/x.rs',
      'app/src/main.rs: lib_one {f}': 'lib-one/src/lib.rs',
      'app/src/main.rs: std::io': '(std)',
      'app/src/main.rs: serde {Serialize}': '(serde)',
      'app/src/main.rs: other {x}': '(other)',
    },
  },
  {
    title: 'require and require_relative',
    language: 'ruby',
    files: 'bin/run.rb lib/app.rb lib/app/x.rb gems/one/lib/one.rb top.rb',
    leads: {
      'bin/run.rb: app': 'lib/app.rb',
      'bin/run.rb: app/x': 'lib/app/x.rb',
      'bin/run.rb: one': 'gems/one/lib/one.rb',
      'bin/run.rb: ../top': 'top.rb',
      'bin/run.rb: ./missing': 'unknown',
      'bin/run.rb: ../../top': 'unknown',
      'bin/run.rb: json/ext': '(json)',
    },
  },
  {
    title: 'includes',
    language: 'c',
    files: 'src/a.c src/a.h include/app/x.h one/config.h two/config.h two/main.c two/sub/y.c string.h include/own.h',
    leads: {
      'src/a.c: a.h': 'src/a.h',
      'src/a.c: app/x.h': 'include/app/x.h',
      'src/a.c: <app/x.h>': 'include/app/x.h',
      'src/a.c: <own.h>': 'include/own.h',
      'src/a.c: <string.h>': '(string.h)',
      'two/sub/y.c: config.h': 'two/config.h',
      'two/sub/y.c: ../config.h': 'two/config.h',
      'src/a.c: missing.h': '(missing.h)',
    },
  },
  {
    title: 'namespaces',
    language: 'csharp',
    files: 'A/One.cs A/Two.cs B/Tools.cs',
    modules: { 'App.A': ['A/One.cs', 'A/Two.cs', 'x.php'], 'App.B': ['B/Tools.cs'] },
    leads: {
      'B/Tools.cs: App.A {*}': 'A/One.cs A/Two.cs',
      'A/One.cs: App.B.Tools {*}': 'B/Tools.cs',
      'A/One.cs: System.Text {*}': '(System.Text)',
    },
  },
  {
    title: 'autoload rules, namespaces and included files',
    language: 'php',
    files: 'index.php src/Model/User.php legacy/Old/Thing.php lib/functions.php lib/boot.php tests/UserTest.php',
    configuration: {
      'composer.json': {
        autoload: { 'psr-4': { 'App\\': 'src/' }, 'psr-0': { Old: ['legacy/'] } },
        'autoload-dev': { 'psr-4': { 'App\\Tests\\': 'tests' } },
      },
      'broken/composer.json': { autoload: { 'psr-4': { 'Out\\': '../../..', 'N\\': 1 } } },
    },
    modules: { 'Lib\\Text': ['lib/functions.php'] },
    leads: {
      'index.php: App\\Model\\User {User}': 'src/Model/User.php',
      'index.php: App\\Tests\\UserTest {UserTest}': 'tests/UserTest.php',
      'index.php: Old\\Thing {Thing}': 'legacy/Old/Thing.php',
      'index.php: Lib\\Text\\trim {trim}': 'lib/functions.php',
      'index.php: Symfony\\Yaml\\Yaml {Yaml}': '(Symfony)',
      'index.php: lib/boot.php': 'lib/boot.php',
      'lib/functions.php: ./boot.php': 'lib/boot.php',
      'index.php: ../../etc/passwd': 'unknown',
      'index.php: Out\\index {index}': '(Out)',
    },
  },
  {
    title: 'sourced scripts',
    language: 'bash',
    files: 'run.sh lib/a.sh lib/b.sh',
    leads: {
      'lib/a.sh: ./b.sh': 'lib/b.sh',
      'lib/a.sh: lib/b.sh': 'lib/b.sh',
      'lib/a.sh: ../run.sh': 'run.sh',
      'lib/a.sh: /etc/profile': 'unknown',
    },
  },
];

describe.each(tables)('$language: $title', ({ language, files, configuration = {}, modules = {}, leads }) => {
  const texts = Object.entries(configuration).map(
    ([path, content]) => [path, typeof content === 'string' ? content : JSON.stringify(content)] as const,
  );
  const resolver = openImportResolver({
    paths: [...files.split(' '), ...Object.keys(configuration)],
    configuration: new Map(texts.filter(([path]) => isConfiguration(path))),
    filesOfModule: (name) => modules[name] ?? [],
  });

  test.each(Object.entries(leads))('%s → %s', (written, expected) => {
    const [path = '', rest = ''] = written.split(': ');
    const { files: found, external } = resolver.resolve({ path, language, fact: toFact(rest) });
    expect(external === undefined ? found.join(' ') || 'unknown' : `(${external})`).toBe(expected);
  });
});

function toFact(written: string): ImportFact {
  const [, source = '', names] = /^(\S+)(?: \{(.*)\})?$/.exec(written) ?? [];
  const listed = names === undefined ? [] : names.split(', ').map((name) => ({ name, as: name }));
  return { source, names: listed, reexport: false, start: { line: 1, column: 1 } };
}

const long = 300_000;
const twentyTimes = (name: string) => JSON.stringify({ extends: Array<string>(20).fill(name) });

test.each<[what: string, path: string, text: string]>([
  ['comments that never end', 'tsconfig.json', '/*'.repeat(long)],
  ['strings that never end', 'tsconfig.json', `"${'\\"'.repeat(long)}\\`],
  ['a file that extends itself twenty times', 'tsconfig.json', twentyTimes('./tsconfig.json')],
  ['empty lines', 'go.mod', '\n'.repeat(long)],
  ['dots', 'go.mod', `require ${'.'.repeat(long)}`],
  ['empty lines of a package', 'Cargo.toml', `[package]${'\n'.repeat(long)}`],
])('%s in %s end in time', (_, path, text) => {
  const language = path === 'go.mod' ? 'go' : path === 'Cargo.toml' ? 'rust' : 'typescript';
  const resolver = openImportResolver({
    paths: [path, 'a'],
    configuration: new Map([[path, text]]),
    filesOfModule: () => [],
  });
  expect(resolver.resolve({ path: 'a', language, fact: toFact('other') })).toEqual({ files: [], external: 'other' });
});

it('names at most 100 files of a package, sorted', () => {
  const paths = Array.from({ length: 300 }, (_, n) => `p/${String(n).padStart(3, '0')}.go`);
  const resolver = openImportResolver({
    paths: paths.toReversed(),
    configuration: new Map([['go.mod', 'module m\n']]),
    filesOfModule: () => [],
  });
  const { files } = resolver.resolve({ path: 'main.go', language: 'go', fact: toFact('m/p') });
  expect(files).toEqual(paths.slice(0, 100));
});
