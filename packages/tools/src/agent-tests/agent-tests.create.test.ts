import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { createSageRegistry } from '../contracts/sage.ts';
import { httpGraph } from '../graph/http-graph.ts';
import { createRegistry } from '../registry/registry.ts';
import { bareContext } from '../testing/bare-context.ts';
import { createSageToolset } from '../toolsets/sage/toolset.ts';
import { chronicle, graphStub, temporaryWorkspace } from './index.ts';

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

// covers S4-90
test('a chronicle keeps each call in the order they were made, with its result or what was thrown', async () => {
  const first = Promise.withResolvers<Json>();
  const recorded = chronicle(({ tool, args }) => {
    if (tool === 'Bash') throw new Error('no system');
    return (args as { file: string }).file === 'slow' ? first.promise : { ok: true };
  });
  const tools = createSageRegistry(recorded);
  const args = { file: 'slow' };
  const slow = tools.get('Read').execute(args);
  args.file = 'changed later';
  const quick = await tools.get('Write').execute({ file: 'a', content: '' });
  await expect(tools.get('Bash').execute({ command: 'ls' })).rejects.toThrow('no system');
  expect(recorded.calls).toEqual([
    { toolset: 'sage', tool: 'Read', args: { file: 'slow' } },
    { toolset: 'sage', tool: 'Write', args: { file: 'a', content: '' }, result: { ok: true } },
    { toolset: 'sage', tool: 'Bash', args: { command: 'ls' }, error: new Error('no system') },
  ]);
  quick.ok = false;
  first.resolve({ ok: true });
  await slow;
  expect(recorded.calls.map(({ result }) => result)).toEqual([{ ok: true }, { ok: true }, undefined]);
});
