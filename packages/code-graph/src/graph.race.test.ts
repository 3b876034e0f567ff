import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type GraphRun, useGraphHost } from './testing/graph-host.ts';
import { sourceTree } from './testing/source-tree.ts';
import { quickParser } from './testing/test-program.ts';
import { wholeGraph } from './testing/whole-graph.ts';

const host = useGraphHost({ program: quickParser });

/** The graph of the same files in a run that never had others. */
async function fromScratch(run: GraphRun): Promise<unknown> {
  const { files } = { files: await host.workspaces.files({ runId: run.id, snapshot: run.snapshot }) };
  const contents: Record<string, Buffer> = {};
  for (const { path } of files) {
    const { content } = await host.workspaces.read({ runId: run.id, snapshot: run.snapshot, path });
    contents[path] = Buffer.concat(await Array.fromAsync(content as AsyncIterable<Buffer>));
  }
  const fresh = await host.run(contents);
  const whole = await wholeGraph(fresh);
  await host.workspaces.discard(fresh.id);
  return whole;
}

test('two workers build one graph at the same time, and both answer as one alone', async () => {
  const run = await host.run(sourceTree(60));
  const other = run.on(host.reopen({ program: quickParser }));
  const [one, two] = await Promise.all([wholeGraph(run), wholeGraph(other)]);
  expect(two).toEqual(one);
  expect(one).toEqual(await fromScratch(run));
  for (let edit = 0; edit < 5; edit++) {
    await run.edit({ [`src/e${edit}.ts`]: `export function e${edit}() {}\n` });
    const both = await Promise.all([run.ask('symbols', { name: 'e*' }), other.ask('symbols', { name: 'e*' })]);
    expect(both[0]).toHaveLength(edit + 1);
    expect(both[1]).toEqual(both[0]);
  }
});

const path = fc.constantFrom('a.ts', 'b.ts', 'd/a.ts', 'd/c.ts', 'd/e/f.ts', 'package.json', 'x.txt');
const line = fc.constantFrom(
  "import { f } from './a.ts';",
  "import { f } from '../a.ts';",
  'export function f() {}',
  'export const c = 1;',
  'function g() { f(); }',
  'f(g());',
);
const edit = fc.dictionary(path, fc.option(fc.array(line, { maxLength: 5 }).map((lines) => lines.join('\n'))), {
  maxKeys: 3,
});

test('after any edits the graph is the one that the snapshot alone makes', { timeout: 300_000 }, async () => {
  const property = fc.asyncProperty(
    fc.array(edit, { minLength: 1, maxLength: 6 }),
    fc.boolean(),
    async (edits, twice) => {
      const run = await host.run({ 'a.ts': 'export function f() {}\n', 'keep.md': 'x' });
      const past: [snapshot: string, graph: unknown][] = [];
      for (const files of edits) {
        await run.edit(files);
        if (twice) past.push([run.snapshot, await wholeGraph(run)]);
      }
      expect(await wholeGraph(run)).toEqual(await fromScratch(run));
      for (const [snapshot, graph] of past) {
        const then = {
          answer: (query: string, params?: Parameters<GraphRun['ask']>[1]) => run.answer(query, params, { snapshot }),
        };
        expect(await wholeGraph(then)).toEqual(graph);
      }
      await host.workspaces.discard(run.id);
    },
  );
  await fc.assert(property, { numRuns: 8 });
});
