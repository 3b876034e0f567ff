import { expect, test } from 'vitest';
import { listDeletions } from './list-deletions.ts';
import { parseCommand } from './parse-command.ts';
import { commandBounds } from './walk.ts';

const read = (line: string, options?: Parameters<typeof parseCommand>[1]) => {
  const parsed = parseCommand(line, options);
  expect(parsed).toMatchObject({ ok: true });
  return parsed.commands;
};
const programs = (line: string) => read(line).map(({ program }) => program);
const paths = (line: string, options?: Parameters<typeof parseCommand>[1]) =>
  read(line, options).flatMap((command) => command.paths.map(({ path, access }) => `${access} ${path}`));
const hosts = (line: string) => read(line).flatMap((command) => command.hosts.map(({ host }) => host));

test.each([
  ['a; b && c || d | e & f', ['a', 'b', 'c', 'd', 'e', 'f']],
  ['a $(b `c`) <(d) "$(e)"', ['c', 'b', 'd', 'e', 'a']],
  ['sudo -u x env A=1 timeout 5 a b', ['sudo', 'env', 'timeout', 'a']],
  ["bash -lc 'a | b'", ['bash', 'a', 'b']],
  ["ls | xargs -n1 bash -c 'a; b'", ['ls', 'xargs', 'bash', 'a', 'b']],
  ['find . -exec a {} + -exec b {} \\;', ['find', 'a', 'b']],
  ['bash <<E\na\nE', ['bash', 'a']],
  ['f() { a; }; f', ['a', 'f']],
  ["r\\m; 'r'm; $'\\x72m'; /bin/rm", ['rm', 'rm', 'rm', 'rm']],
  ['ssh -p 22 host a b', ['ssh', 'a']],
  ['if a; then b; else c; fi; while d; do e; done', ['a', 'b', 'c', 'd', 'e']],
])('%j has the programs %j', (line, expected) => {
  expect(programs(line)).toEqual(expected);
});

test('a command says what its words, redirects and variables are', () => {
  const line = 'A=1 B=$x /bin/cp -r "$y" *.ts out > log 2>&1 < in &';
  const [command] = read(line);
  expect(command).toMatchObject({
    program: 'cp',
    written: '/bin/cp',
    assignments: [
      { name: 'A', value: '1' },
      { name: 'B', value: null },
    ],
    redirects: [
      { path: 'log', access: 'write', static: true },
      { path: 'in', access: 'read', static: true },
    ],
    background: true,
    position: { start: 0, end: line.length - 2 },
  });
  expect(command!.argv.map(({ value, static: isStatic }) => [value, isStatic])).toEqual([
    ['/bin/cp', true],
    ['-r', true],
    ['$y', false],
    ['*.ts', false],
    ['out', true],
  ]);
});

test('a program that is not static is unknown', () => {
  expect(read('$x -rf /')).toMatchObject([{ program: '', written: '$x', unknown: expect.any(String) }]);
});

test.each([
  ['rm -rf dist/* ../a /b ~/c', ['delete dist/*', 'delete ../a', 'delete /b', 'delete ~/c']],
  ['cd src && rm a', ['read src', 'delete src/a']],
  ['cd src; rm a', ['delete a', 'delete src/a']],
  ['(cd src && rm a); rm b', ['delete src/a', 'delete b']],
  ['mv a b c', ['delete a', 'delete b', 'write c']],
  ['cp -t d a', ['read a', 'write d']],
  ['dd if=a of=b', ['read a', 'write b']],
  ['sed -i s/a/b/ f', ['write f']],
  ['sort -o a b', ['read b', 'write a']],
  ['grep -e x f', ['read f']],
  ['grep x f', ['read f']],
  ['echo a > b; cat < c', ['write b', 'read c']],
  ['git rm a; git mv b c', ['delete a', 'delete b', 'write c']],
  ['find a -delete', ['delete a']],
])('%j touches %j', (line, expected) => {
  expect(paths(line).filter((path) => path !== 'read src')).toEqual(expected.filter((path) => path !== 'read src'));
});

test('a path below the workspace is relative', () => {
  expect(paths('rm /work/dist /work2/a a', { root: '/work', cwd: 'b' })).toEqual([
    'delete dist',
    'delete /work2/a',
    'delete b/a',
  ]);
});

test.each([
  ['curl -H a:b https://u:p@a.example:8080/x b.example', ['a.example', 'b.example']],
  ['wget -O- $x', [null]],
  ['git clone git@a.example:b/c.git', ['a.example']],
  ['git push', [null]],
  ['ssh -p 22 u@a.example ls', ['a.example']],
  ['scp a u@b.example:c .', ['b.example']],
  ['nc a.example 80', ['a.example']],
  ['npm install', [null]],
  ['cat < /dev/tcp/a.example/80', ['a.example']],
  ['ls', []],
])('%j connects to %j', (line, expected) => {
  expect(hosts(line)).toEqual(expected);
});

test.each([
  ['rm -rf dist node_modules packages/a/dist/b', []],
  ['cd dist && rm -rf *', []],
  ['rm -rf dist/../src', ['src']],
  ['rm -rf dist src', ['src']],
  ['rm -rf /dist ~/dist ../dist', ['/dist', '~/dist', '../dist']],
  ['rm -rf "dist/$x"', ['dist/$x']],
  ['rm -rf dist/.*/src', ['dist/.*/src']],
  ['rm -rf dist/@(..)/src', ['dist/@(..)/src']],
  ['rm -rf dist/{..,x}/src', ['dist/{..,x}/src']],
  ['cd dist; rm -rf *', ['*']],
  ['for d in a b; do cd $d; rm -rf dist; done', ['dist']],
  ['f() { rm -rf dist; }; cd /; f', ['dist']],
  ['git -C / clean -fdx', ['.']],
])('%j deletes %j outside of build folders', (line, expected) => {
  expect(read(line).flatMap((command) => listDeletions(command).map(({ path }) => path))).toEqual(expected);
});

test.each([
  ['length', 'a '.repeat(commandBounds.characters)],
  ['commands', 'a;'.repeat(commandBounds.commands + 2)],
  ['substitutions', `${'$('.repeat(20)}ls${')'.repeat(20)}`],
  ['depth', `${'if a; then '.repeat(200)}`],
  ['words', `ls ${'a '.repeat(commandBounds.nodes)}`],
  ['recursion', 'coproc '.repeat(2000)],
  ['an open quote', "ls 'a"],
])('a line over the bound of %s is not read', (_bound, line) => {
  expect(parseCommand(line)).toMatchObject({ ok: false, reason: expect.any(String) });
});
