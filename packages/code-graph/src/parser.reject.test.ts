import { expect, test } from 'vitest';
import { useGraphHost } from './testing/graph-host.ts';
import { hostileParser, quickParser } from './testing/test-program.ts';

const host = useGraphHost({ program: quickParser });
const files = { 'a.ts': 'export const a = 1;\n', 'b.ts': 'export const b = 1;\n' };
const fact = (more: object) =>
  JSON.stringify({
    language: 'typescript',
    facts: { symbols: [], imports: [], references: [], has_errors: false, cut: false, ...more },
  });

test.each([
  ['no JSON', "say('hello')"],
  ['facts of another shape', "say({ language: 'typescript', facts: {} })"],
  ['facts with more in them', `say(${JSON.stringify(fact({ path: '/etc/passwd' }))})`],
  ['a language that there is not', "say({ language: 'klingon', facts: empty })"],
  ['a reason that there is not', "say({ unparsed: 'because' })"],
  [
    'a kind that there is not',
    `say(${JSON.stringify(fact({ references: [{ name: 'x', kind: 'evil', start: { line: 1, column: 1 } }] }))})`,
  ],
  ['a prototype', `say('{"language":"typescript","facts":{"__proto__":{"symbols":[]}}}')`],
  ['too many values', "say('[' + '{},'.repeat(500_000) + '{}]')"],
  ['a value that is nested too deep', "say('['.repeat(1_000_000))"],
  ['an exit', 'process.exit(1)'],
  ['two answers', "say({ unparsed: 'binary' }); say({ unparsed: 'binary' })"],
])('%s: the file is unparsed, and nothing of it is in the graph', async (_, answer) => {
  const run = await host.run(files, { graphs: host.reopen({ program: hostileParser(host.directory, answer) }) });
  const unparsed = await run.ask('unparsed');
  expect(unparsed).toHaveLength(2);
  for (const { reason } of unparsed) expect(['parser_failed', 'binary']).toContain(reason);
  expect(await run.ask('symbols')).toEqual([]);
});

test('a file that hangs the parser or ends it is unparsed, and the others are read', async () => {
  const graphs = host.reopen({ program: quickParser, fileMs: 3000 });
  const run = await host.run(
    {
      ...Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${n}.ts`, `export const c${n} = 1;\n`])),
      'f3a.ts': '// exit\n',
      'f7a.ts': '// hang\n',
    },
    { graphs },
  );
  expect(await run.ask('unparsed')).toMatchObject([
    { path: 'f3a.ts', reason: 'parser_failed' },
    { path: 'f7a.ts', reason: 'timeout' },
  ]);
  expect(await run.ask('symbols')).toHaveLength(20);
});

test('a hostile parser poisons the graph of its own run alone', async () => {
  const evil = fact({
    symbols: [
      {
        name: 'evil',
        kind: 'class',
        container: [],
        exported: true,
        start: { line: 1, column: 1 },
        end: { line: 1, column: 1 },
      },
    ],
  });
  const poisoned = await host.run(files, {
    graphs: host.reopen({ program: hostileParser(host.directory, `say(${JSON.stringify(evil)})`) }),
  });
  expect(await poisoned.ask('symbols', { path: 'a.ts' })).toMatchObject([{ name: 'evil' }]);
  const run = await host.run(files);
  expect(await run.ask('symbols')).toMatchObject([{ name: 'a' }, { name: 'b' }]);
});
