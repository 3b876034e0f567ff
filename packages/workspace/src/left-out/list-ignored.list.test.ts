import { expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { runId } from '../testing/index.ts';

test('rules of a directory source match, a hostile pattern matches nothing in bounded time', async ({ t }) => {
  const names = ['a.log', 'kept.log', ':odd.log', 'src/b.log', 'out/x', 'src/keep'];
  const files = Object.fromEntries(names.map((name) => [name, '']));
  const rules = '*.log\n!kept.log\nout/\n';
  const source = t.source({ ...files, '.gitignore': rules, 'src/.gitignore': '!b.log\n' });
  const { id: snapshot } = await t.begin(source);
  const asked = [...names.map((path) => ({ path, isFolder: false })), { path: 'out', isFolder: true }];
  const found = await t.workspaces.ignored({ runId, snapshot, paths: asked });
  expect([...found].sort()).toEqual([':odd.log', 'a.log', 'out', 'out/x']);
});

test('a hostile pattern matches nothing, in bounded time', async ({ t }) => {
  const name = 'a'.repeat(250);
  const source = t.source({ '.gitignore': `${'a*'.repeat(60)}b\n`, [name]: '' });
  const { id: snapshot } = await t.begin(source);
  const began = performance.now();
  const found = await t.workspaces.ignored({ runId, snapshot, paths: [{ path: name, isFolder: false }] });
  expect(found.size).toBe(0);
  expect(performance.now() - began).toBeLessThan(30_000);
});
