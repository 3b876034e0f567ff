import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, expect, test } from 'vitest';
import { type GraphRun, useGraphHost } from './testing/graph-host.ts';
import { sourceTree } from './testing/source-tree.ts';
import { quickParser } from './testing/test-program.ts';

const host = useGraphHost({ program: quickParser });
let run: GraphRun;
let expected: unknown;
beforeAll(async () => {
  run = await host.run(sourceTree(30));
  expected = await run.ask('symbols', { limit: 1000 });
});

const fileOf = ({ cache }: GraphRun): string => {
  const folder = join(cache, 'graph');
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.sqlite')) ?? '');
};

/** Asks through graphs that were just opened, as a worker does that was started again. */
const askAgain = () => run.on(host.reopen({ program: quickParser })).ask('symbols', { limit: 1000 });

test.each<[string, (file: string) => void]>([
  ['garbage', (file) => writeFileSync(file, Buffer.alloc(100_000, 'garbage '))],
  ['nothing', (file) => writeFileSync(file, '')],
  ['a cut file', (file) => truncateSync(file, Math.floor(readFileSync(file).length / 2 / 4096) * 4096)],
  [
    'pages of zeros',
    (file) => {
      const bytes = readFileSync(file);
      bytes.fill(0, 8192, bytes.length - 4096);
      writeFileSync(file, bytes);
    },
  ],
  ['another program', (file) => changed(file, 'PRAGMA application_id = 7')],
  ['another version', (file) => changed(file, 'PRAGMA user_version = 7')],
  ['missing tables', (file) => changed(file, 'DROP TABLE symbol')],
  ['a log of garbage', (file) => writeFileSync(`${file}-wal`, Buffer.alloc(50_000, 'garbage '))],
])('%s in place of the store', async (_, damage) => {
  await host.graphs.close();
  const file = fileOf(run);
  damage(file);
  expect(await askAgain()).toEqual(expected);
  expect(readdirSync(run.cache)).toEqual(['graph']);
});

function changed(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

test('a store that is broken or thrown away while it is open is made again', async () => {
  const graphs = host.reopen({ program: quickParser });
  const same = run.on(graphs);
  expect(await same.ask('symbols', { limit: 1000 })).toEqual(expected);
  const file = fileOf(run);
  writeFileSync(file, Buffer.alloc(200_000, 'x'));
  expect(await askAgain()).toEqual(expected);
  expect(existsSync(file)).toBe(false);
  await run.edit({ 'src/new.ts': 'export const fresh = 1;\n' });
  expect(await same.ask('symbols', { name: 'fresh' })).toMatchObject([{ path: 'src/new.ts' }]);
  await run.edit({ 'src/new.ts': null });
  expect(await same.ask('symbols', { limit: 1000 })).toEqual(expected);
});

test('a discarded run that is made again has its own graph', async () => {
  const first = await host.run({ 'a.ts': 'const a = 1;\n' }, { id: 'run_again' });
  expect(await first.ask('symbols')).toMatchObject([{ name: 'a' }]);
  await host.workspaces.discard(first.id);
  const second = await host.run({ 'a.ts': 'const b = 1;\n' }, { id: 'run_again' });
  expect(await second.ask('symbols')).toMatchObject([{ name: 'b' }]);
});

test('a graph too large for its store is refused, and a once large graph forgets blobs without a snapshot', async () => {
  const small = host.reopen({ program: quickParser, maxBytes: 400_000 });
  const growing = await host.run(sourceTree(10), { graphs: small });
  for (let edit = 0; edit < 12; edit++) {
    const files = Object.fromEntries(
      Object.entries(sourceTree(10)).map(([path, text]) => [path, `${text}// ${edit}\n`]),
    );
    await growing.edit(files);
    expect(await growing.ask('summary')).toMatchObject([{ language: 'typescript', files: 10 }]);
  }
  await growing.edit(sourceTree(400));
  await expect(growing.ask('summary')).rejects.toMatchObject({
    code: 'EQUOTA',
    next: expect.stringContaining('globs'),
  });
});
