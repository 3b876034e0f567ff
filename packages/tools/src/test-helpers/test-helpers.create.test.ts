import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { httpGraph } from '../graph/http-graph.ts';
import { createRegistry } from '../registry/registry.ts';
import { bareContext } from '../testing/bare-context.ts';
import { createSageToolset } from '../toolsets/sage/toolset.ts';
import { graphStub, temporaryWorkspace } from './index.ts';

// covers S4-90
test('a temporary workspace shows what changed, and is removed', async () => {
  let path = '';
  {
    await using workspace = await temporaryWorkspace({ 'a/same': '1', edited: 'x\ny\n', gone: 'g\n', binary: 'b' });
    path = workspace.path;
    expect(await workspace.changes()).toEqual([]);
    await workspace.write('edited', 'x\nz\n');
    await workspace.write('n/new', 'n\n');
    await workspace.write('binary', Buffer.from([0]));
    await rm(join(path, 'gone'));
    expect(await workspace.read('n/new')).toBe('n\n');
    expect(await workspace.changes()).toEqual([
      { path: 'binary', status: 'modified', diff: null },
      { path: 'edited', status: 'modified', diff: '--- a/edited\n+++ b/edited\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n' },
      { path: 'gone', status: 'deleted', diff: expect.stringContaining('-g\n') },
      { path: 'n/new', status: 'added', diff: '--- /dev/null\n+++ b/n/new\n@@ -0,0 +1,1 @@\n+n\n' },
    ]);
  }
  expect(existsSync(path)).toBe(false);
});

// covers S4-90, S4-30
test('a graph stub answers GraphQuery and keeps what was asked', async () => {
  await using graph = await graphStub(({ query }) => {
    if (query === 'bad') throw new Error('no such label');
    return [{ name: 'main' }];
  });
  const registry = createRegistry([createSageToolset({ graph: httpGraph(graph) })]);
  const ask = (args: object) => registry.execute({ toolset: 'sage', tool: 'GraphQuery', args, context: bareContext() });
  expect(await ask({ query: 'q', params: { a: 1 } })).toMatchObject({ value: { results: [{ name: 'main' }] } });
  expect(await ask({ query: 'bad' })).toMatchObject({ error: { message: 'no such label' } });
  expect(graph.asked).toEqual([{ query: 'q', params: { a: 1 } }, { query: 'bad' }]);
  await using fixed = await graphStub([]);
  expect((await fetch(fixed.endpoint, { method: 'POST', body: 'no JSON' })).status).toBe(500);
});
