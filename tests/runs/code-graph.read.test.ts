import type { Json } from '@holdpoint/contract';
import type { CreateRun } from '@holdpoint/contract/wire';
import { expect, test } from 'vitest';
import { useSystem } from '../harness/index.ts';

const secret = 'graphValue91f0c2ab77';
const system = useSystem({ env: () => ({ HOLDPOINT_SECRET_API_KEY: secret }) });
const files = {
  'src/shape.ts': 'export class Shape {}\n',
  'src/circle.ts': "import { Shape } from './shape.ts';\nexport class Circle extends Shape {}\n",
  'private/key.ts': 'export const key = 1;\n',
};

async function open(fields: Partial<CreateRun> = {}, more: Record<string, string> = {}) {
  const path = await system.directoryWith({ ...files, ...more });
  const { run } = await system.client.createRun({
    ...{ open: true, workspace: { source: { type: 'directory', path } } },
    ...fields,
  } as CreateRun);
  const call = async (tool: string, args: Record<string, Json>) => {
    const { steps } = await system.client.sendCalls(run.id, { calls: [{ tool, args }] }, { waitS: 60 });
    return steps[0];
  };
  return { id: run.id, call };
}

test('a run asks the graph of its files, after each edit and as they were', async () => {
  const { call } = await open();
  const before = await call('code_graph', { query: 'references', params: { name: 'Shape' } });
  expect(before?.result).toMatchObject({
    results: [{ path: 'src/circle.ts', line: 2, kind: 'extends', how: 'import', target_path: 'src/shape.ts' }],
  });
  const written = await call('write_file', { path: 'src/square.ts', content: 'export class Square {}\n' });
  const symbols = { query: 'symbols', params: { kind: 'class' } };
  const after = await call('code_graph', symbols);
  expect(after?.result).toMatchObject({ results: [{ name: 'Circle' }, { name: 'Shape' }, { name: 'Square' }] });
  await call('bash', { command: 'echo "export class Oblong {}" > src/square.ts' });
  expect((await call('code_graph', symbols))?.result).toMatchObject({
    results: [{ name: 'Circle' }, { name: 'Shape' }, { name: 'Oblong' }],
  });
  const commit = written?.snapshot ?? '';
  expect((await call('code_graph', { ...symbols, commit }))?.result).toEqual(after?.result);
  expect((await call('code_graph', { ...symbols, commit: 'HEAD' }))?.result).toMatchObject({
    error: { code: 'EGRAPH', message: expect.stringContaining('/commit'), next: expect.stringContaining('snapshot') },
  });
});

// covers S4-30
test('GraphQuery of a deterministic run gives the same bytes, and nothing of what it may not read', async () => {
  const ask = async () => {
    const { call } = await open({
      ...{ toolset: 'sage', permissions: ['fs:read:src/**', 'graph:read'] },
      modes: { read_only: false, dry_run: false, deterministic: true },
    });
    const asked = await call('GraphQuery', { query: 'symbols' });
    expect(asked?.result).toMatchObject({ ok: true, data: { results: [{ name: 'Circle' }, { name: 'Shape' }] } });
    return JSON.stringify(asked?.result);
  };
  expect(await ask()).toBe(await ask());
});

test('the value of a secret is redacted in an answer', async () => {
  const secrets: CreateRun['secrets'] = [{ name: 'API_KEY', as: { env: 'API_KEY' } }];
  const { call } = await open({ secrets }, { 'src/leak.ts': `export const ${secret} = 1;\n` });
  const asked = await call('code_graph', { query: 'outline', params: { path: 'src/leak.ts' } });
  expect(asked?.result).toMatchObject({ results: [{ path: 'src/leak.ts', name: '[secret API_KEY]' }] });
  expect(JSON.stringify(asked)).not.toContain(secret);
});

test('an edit of a run says which syntax errors it brought', async () => {
  const { call } = await open();
  // A result waits 5 s for the parser; on a busy machine its start alone takes longer.
  await call('code_graph', { query: 'summary' });
  const broken = { path: 'src/shape.ts', old_string: 'Shape {}', new_string: 'Shape {' };
  expect((await call('edit', broken))?.result).toMatchObject({
    ...{ path: 'src/shape.ts', replacements: 1 },
    diagnostics: [{ path: 'src/shape.ts', line: 1, message: 'missing "}"' }],
  });
  const comment = [{ old_string: 'export', new_string: '// A shape.\nexport' }];
  expect((await call('multi_edit', { path: 'src/shape.ts', edits: comment }))?.result).not.toHaveProperty(
    'diagnostics',
  );
  const input = '*** Begin Patch\n*** Update File: src/circle.ts\n@@\n+g(1;\n*** End Patch';
  expect((await call('apply_patch', { input }))?.result).toMatchObject({
    diagnostics: [{ path: 'src/circle.ts', line: 3, message: 'missing ")"' }],
  });
});

test('a missing path names no path that the run may not read', async () => {
  const read = { path: 'src/key.ts' };
  const { call } = await open();
  expect((await call('read_file', read))?.result).toMatchObject({ value: { nearest: ['private/key.ts'] } });
  const held = await open({ permissions: ['fs:read:src/**', 'graph:read'] });
  expect(JSON.stringify(await held.call('read_file', read))).not.toContain('private');
});
