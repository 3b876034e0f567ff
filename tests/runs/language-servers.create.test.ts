import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Json } from '@holdpoint/contract';
import type { CreateRun } from '@holdpoint/contract/wire';
import { expect, test } from 'vitest';
import { useSharedSystem } from '../harness/index.ts';

const system = useSharedSystem();
const require = createRequire(import.meta.url);
const files = {
  'package.json': '{"type":"module"}\n',
  'tsconfig.json':
    '{"compilerOptions":{"strict":true,"noEmit":true,"module":"nodenext","allowImportingTsExtensions":true}}\n',
  'src/sum.ts': 'export function sum(a: number, b: number): number {\n  return a + b;\n}\n',
  'src/use.ts': "import { sum } from './sum.ts';\n\nexport const three = sum(1, 2);\n",
};

/** An open run of a project that has installed TypeScript. */
async function open(fields: Partial<CreateRun> = {}) {
  const path = await system.directoryWith(files);
  const native = `@typescript/typescript-${process.platform}-${process.arch}`;
  for (const name of ['typescript', native]) {
    const from = dirname(require.resolve(`${name}/package.json`));
    cpSync(from, join(path, 'node_modules', name), { recursive: true, dereference: true });
  }
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

const sum = { path: 'src/sum.ts', line: 1, symbol: 'sum' };

test('a run asks the language server of its project, hears of type errors, and renames in all files', async () => {
  const { id, call } = await open();
  expect((await call('definition', { path: 'src/use.ts', line: 3, symbol: 'sum' }))?.result).toMatchObject({
    places: [{ path: 'src/sum.ts', line: 1, column: 17 }],
  });
  const wrong = { path: 'src/use.ts', old_string: 'sum(1, 2)', new_string: "sum(1, 'two')" };
  expect((await call('edit', wrong))?.result).toMatchObject({
    diagnostics: [{ path: 'src/use.ts', line: 3, message: expect.stringContaining("'string' is not assignable") }],
  });
  await call('bash', { command: 'sed -i "s/\'two\'/2/" src/use.ts' });
  const renamed = await call('rename', { ...sum, new_name: 'add' });
  expect(renamed?.result).toMatchObject({ files: [{ path: 'src/sum.ts' }, { path: 'src/use.ts' }] });
  expect(renamed?.result).not.toHaveProperty('diagnostics');
  const { files: changed } = await system.client.diff(id);
  const lines = changed.flatMap(({ hunks }) => hunks.flatMap((hunk) => hunk.lines));
  expect(lines.filter((line) => !line.startsWith(' '))).toEqual([
    '-export function sum(a: number, b: number): number {',
    '+export function add(a: number, b: number): number {',
    "-import { sum } from './sum.ts';",
    "+import { add } from './sum.ts';",
    '-export const three = sum(1, 2);',
    '+export const three = add(1, 2);',
  ]);
});

test('a rename counts as a write to every file', async () => {
  const { call } = await open({ permissions: ['fs:read:**', 'fs:write:src/**'] });
  expect(await call('rename', { ...sum, new_name: 'add' })).toMatchObject({ error: { code: 'EPERMISSION' } });
  expect((await call('references', sum))?.result).toMatchObject({ total: 3 });
});

test('a run that may not read every file has no server, because a server reads them all', async () => {
  const { call } = await open({ permissions: ['fs:read:src/**', 'fs:write:src/**'] });
  expect(await call('references', sum)).toMatchObject({ result: { error: { code: 'ENOSERVER' } } });
});
