import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { packageFolders, useServerHost } from './testing/server-host.ts';

const host = useServerHost();

const sum = 'export function sum(a: number, b: number): number {\n  return a + b;\n}\n';
const use = "import { sum } from './sum.ts';\n\nexport const three = sum(1, 2);\n";
const tsconfig = JSON.stringify({
  compilerOptions: { module: 'nodenext', strict: true, noEmit: true, allowImportingTsExtensions: true, types: [] },
});
const project = {
  'src/sum.ts': sum,
  'src/use.ts': use,
  'tsconfig.json': tsconfig,
  'package.json': '{"type":"module"}',
};

const { typescript6, typescript7, native7, pyright } = packageFolders;
const typescripts = [
  ['TypeScript 6, by typescript-language-server', { typescript: typescript6 }],
  [
    'TypeScript 7, by its own server',
    { typescript: typescript7, [`@typescript/${native7.split('/').at(-1)}`]: native7 },
  ],
] as const;

test.each(typescripts)('%s: an edit reports its type errors and no older ones', async (_, packages) => {
  const run = host.run(
    { ...project, 'src/old.ts': 'export const old: string = 1;\nexport const fine = 2;\n' },
    packages,
  );
  const wrong = use.replace('sum(1, 2)', "sum(1, '2')");
  expect(await run.diagnose('src/use.ts', use, wrong)).toEqual([
    { path: 'src/use.ts', line: 3, column: 29, message: expect.stringContaining("'string' is not assignable") },
  ]);
  expect(await run.diagnose('src/use.ts', wrong, use)).toEqual([]);
  const old = 'export const old: string = 1;\nexport const fine = 2;\n';
  const moved = `\n${old.replace('fine = 2', 'fine: number = false')}`;
  expect(await run.diagnose('src/old.ts', old, moved)).toMatchObject([{ path: 'src/old.ts', line: 3 }]);
});

test.each(typescripts)('%s: what other calls wrote counts', async (_, packages) => {
  const run = host.run(project, packages);
  expect(await run.diagnose('src/use.ts', '', use)).toEqual([]);
  run.write({ 'src/sum.ts': sum.replaceAll('number', 'string') });
  expect(await run.diagnose('src/use.ts', '', `${use}\n`)).toMatchObject([{ line: 3 }]);
  run.write({ 'src/sum.ts': null, 'src/total.ts': sum });
  const total = use.replace('sum.ts', 'total.ts');
  expect(await run.diagnose('src/use.ts', '', total)).toEqual([]);
});

test.each(typescripts)(
  '%s: an edit reports the errors that it brings into files that import it',
  async (_, packages) => {
    const run = host.run(
      { ...project, 'src/far/other.ts': "import { sum } from '../sum.ts';\nexport const four = sum(2, 2);\n" },
      packages,
    );
    const text = sum.replace('b: number)', 'b: number, c: number)');
    run.write({ 'src/sum.ts': text });
    expect(await run.diagnose('src/sum.ts', sum, text)).toEqual([
      { path: 'src/use.ts', line: 3, column: 22, message: expect.stringContaining('Expected 3 arguments') },
      { path: 'src/far/other.ts', line: 2, column: 21, message: expect.stringContaining('Expected 3 arguments') },
    ]);
    // The same errors are old at the next edit.
    expect(await run.diagnose('src/sum.ts', text, `${text}\n`)).toEqual([]);
    run.write({ 'src/sum.ts': sum });
    expect(await run.diagnose('src/sum.ts', text, sum)).toEqual([]);
  },
);

test.each(typescripts)('%s: definition, references and rename', async (_, packages) => {
  const run = host.run(project, packages);
  expect(await host.servers.definition(run.named('src/use.ts', 3, 'sum'))).toEqual({
    places: [{ path: 'src/sum.ts', line: 1, column: 17, text: sum.trimEnd() }],
    total: 1,
  });
  expect(await host.servers.references(run.named('src/sum.ts', 1, 'sum'))).toMatchObject({
    places: [
      { path: 'src/sum.ts', line: 1, column: 17 },
      { path: 'src/use.ts', line: 1, column: 10, text: "import { sum } from './sum.ts';" },
      { path: 'src/use.ts', line: 3, column: 22 },
    ],
    total: 3,
  });
  const files = await host.servers.rename({ ...run.named('src/sum.ts', 1, 'sum'), new_name: 'add' });
  const texts = new Map(Object.entries(project));
  const renamed = files.map(({ path, edits }) => {
    let text = texts.get(path) ?? '';
    for (const { start, end, text: to } of edits.toReversed()) text = text.slice(0, start) + to + text.slice(end);
    return [path, text];
  });
  expect(Object.fromEntries(renamed)).toEqual({
    'src/sum.ts': sum.replace('sum', 'add'),
    'src/use.ts': use.replace('{ sum }', '{ add }').replace('= sum', '= add'),
  });
});

test('Python, by pyright of the project', async () => {
  const before = 'def sum(a: int, b: int) -> int:\n    return a + b\n\n\nprint(sum(1, 2))\n';
  const run = host.run({ 'sum.py': before }, { pyright });
  expect(await run.diagnose('sum.py', before, before.replace('sum(1, 2)', "sum(1, '2')"))).toMatchObject([
    { path: 'sum.py', line: 5, message: expect.stringContaining('"int"') },
  ]);
  run.write({ 'sum.py': before });
  expect(await host.servers.references(run.named('sum.py', 5, 'sum'))).toMatchObject({ total: 2 });
});

test.skipIf(!existsSync('/usr/bin/gopls'))('Go, by gopls of the host', async () => {
  const main = 'package main\n\nfunc sum(a, b int) int { return a + b }\n\nfunc main() { println(sum(1, 2)) }\n';
  const run = host.run({ 'app/go.mod': 'module app\n\ngo 1.19\n', 'app/main.go': main });
  expect(await run.diagnose('app/main.go', main, main.replace('sum(1, 2)', 'sum(1, "2")'))).toMatchObject([
    { path: 'app/main.go', line: 5 },
  ]);
  run.write({ 'app/main.go': main });
  expect(await host.servers.references(run.named('app/main.go', 5, 'sum'))).toMatchObject({ total: 2 });
});

test('a name that the line does not have is refused with the lines that have it', async () => {
  const run = host.run(project, typescripts[1][1]);
  await expect(host.servers.definition(run.named('src/use.ts', 2, 'sum'))).rejects.toMatchObject({
    code: 'ENOSYMBOL',
    message: 'Line 2 of src/use.ts does not have the name "sum", but line 1, 3 has.',
  });
  await expect(host.servers.definition(run.named('src/none.ts', 2, 'sum'))).rejects.toMatchObject({ code: 'ENOPLACE' });
});

test('without a server there are no problems and no answers, and nothing is started', async () => {
  const run = host.run({ 'a.ts': 'const a: string = 1;\n', 'a.txt': 'a' });
  expect(await run.diagnose('a.ts', '', 'const a: string = 1;\n')).toEqual([]);
  await expect(host.servers.definition(run.named('a.ts', 1, 'a'))).rejects.toMatchObject({ code: 'ENOSERVER' });
  await expect(host.servers.definition(run.named('a.txt', 1, 'a'))).rejects.toMatchObject({ code: 'ENOSERVER' });
  const none = host.reopen({ most: 0 });
  const served = host.run(project, typescripts[1][1]);
  await expect(none.definition(served.named('src/use.ts', 3, 'sum'))).rejects.toMatchObject({ code: 'ENOSERVER' });
});

const wrong = use.replace('sum(1, 2)', "sum(1, '2')");
const problem = { path: 'src/use.ts', line: 3 };

test('an edit takes no place from a server that other runs edit with; a question does', async () => {
  const packages = typescripts[1][1];
  const [first, second] = [host.run(project, packages), host.run(project, packages)];
  const servers = host.reopen({ most: 1, keptMs: 2000 });
  expect(await first.diagnose('src/use.ts', use, wrong, servers)).toMatchObject([problem]);
  expect(await second.diagnose('src/use.ts', use, wrong, servers)).toEqual([]);
  expect(await first.diagnose('src/use.ts', use, wrong, servers)).toMatchObject([problem]);
  expect(await servers.definition(second.named('src/use.ts', 3, 'sum'))).toMatchObject({ total: 1 });
  expect(await first.diagnose('src/use.ts', use, wrong, servers)).toEqual([]);
  await new Promise((resolve) => setTimeout(resolve, 2100));
  expect(await first.diagnose('src/use.ts', use, wrong, servers)).toMatchObject([problem]);
});

/** A server for Python that answers an edit only once the workspace has a file `go`. */
const heldServer = `
  const { existsSync } = require('node:fs');
  let rest = Buffer.alloc(0);
  const send = (message) => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    process.stdout.write('Content-Length: ' + Buffer.byteLength(body) + '\\r\\n\\r\\n' + body);
  };
  const onceLet = (work) => (existsSync('/workspace/go') ? work() : setTimeout(onceLet, 20, work));
  const answer = ({ id, method }) => {
    if (id === undefined) return;
    if (method === 'initialize') return send({ id, result: { capabilities: { diagnosticProvider: {} } } });
    onceLet(() => send({ id, result: method === 'textDocument/diagnostic' ? { kind: 'full', items: [] } : null }));
  };
  process.stdin.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const head = rest.indexOf('\\r\\n\\r\\n');
      const end = head + 4 + Number(/\\d+/.exec(rest.subarray(0, Math.max(head, 0)))?.[0]);
      if (head < 0 || rest.length < end) return;
      answer(JSON.parse(rest.subarray(head + 4, end)));
      rest = rest.subarray(end);
    }
  });`;

test('of many edits at once the later ones go without, and hold up no question', async () => {
  const run = host.run({
    'a.py': 'name = 1\n',
    'node_modules/pyright/package.json': '{}',
    'node_modules/pyright/langserver.index.js': heldServer,
  });
  const servers = host.reopen();
  let atOnce = 0;
  const edits = Array.from({ length: 30 }, async () => {
    await run.diagnose('a.py', 'name = 1\n', 'name = 2\n', servers);
    atOnce += existsSync(join(run.mount.path, 'go')) ? 0 : 1;
  });
  await vi.waitFor(() => expect(atOnce).toBe(28), { timeout: 30_000 });
  const question = servers.definition(run.named('a.py', 1, 'name'));
  run.write({ go: '' });
  await Promise.all(edits);
  expect(atOnce).toBe(28);
  expect(await question).toEqual({ places: [], total: 0 });
});
