import { expect, test } from 'vitest';
import { useWorkspace } from '../testing/workspace.ts';
import type { ToolContext } from '../tool.ts';
import { holdpoint } from '../toolsets/holdpoint/toolset.ts';

const workspace = useWorkspace();

/** Hears what each call would have checked, and finds an error in every file with a `!`. */
function checker() {
  const asked: [path: string, before: string, after: string][] = [];
  const checkSyntax: NonNullable<ToolContext['checkSyntax']> = async ({ path, before, after }) => {
    asked.push([path, before.toString(), after.toString()]);
    return after.includes('!') ? [{ line: 1, column: 2, message: 'unexpected "!\nexit 0"' }] : [];
  };
  return { asked, checkSyntax };
}

const error = (path: string) => ({ path, line: 1, column: 2, message: 'unexpected "!\nexit 0"' });
const shown = (tool: string, value: unknown) =>
  holdpoint.tools.find(({ name }) => name === tool)?.render?.({ status: 'succeeded', value: value as never });

test('each editing tool reports the errors that it brought, and no field without one', async () => {
  await workspace().put('a.ts', 'one\ntwo\n');
  const { asked, checkSyntax } = checker();
  const call = (tool: string, args: object) => workspace().call(tool, args, { checkSyntax });
  expect((await call('edit', { path: './a.ts', old_string: 'one', new_string: '1' })) as object).not.toHaveProperty(
    'value.diagnostics',
  );
  const edited = await call('edit', { path: 'a.ts', old_string: '1', new_string: '!' });
  expect(edited).toMatchObject({ status: 'succeeded', value: { diagnostics: [error('a.ts')] } });
  const edits = [
    { old_string: '!', new_string: '?' },
    { old_string: '?', new_string: '!!' },
  ];
  expect(await call('multi_edit', { path: 'a.ts', edits })).toMatchObject({ value: { diagnostics: [error('a.ts')] } });
  expect(await call('write_file', { path: 'b.ts', content: '!' })).toMatchObject({
    value: { diagnostics: [error('b.ts')] },
  });
  const input =
    '*** Begin Patch\n*** Update File: b.ts\n*** Move to: c.ts\n-!\n+!!\n*** Add File: d.ts\n+ok\n*** End Patch';
  const patched = await call('apply_patch', { input });
  expect(patched).toMatchObject({ value: { diagnostics: [error('c.ts')] } });
  expect(asked).toEqual([
    ['a.ts', 'one\ntwo\n', '1\ntwo\n'],
    ['a.ts', '1\ntwo\n', '!\ntwo\n'],
    ['a.ts', '!\ntwo\n', '!!\ntwo\n'],
    ['b.ts', '', '!'],
    ['c.ts', '!', '!!'],
    ['d.ts', '', 'ok\n'],
  ]);
  const { value } = edited as { value: unknown };
  expect(shown('edit', value)).toMatchObject({
    head: 'changed a.ts: 1 replacement; it brought 1 error, on the last line',
    body: expect.stringMatching(/^1\t!\n2\ttwo\n\na\.ts:1:2 unexpected "! exit 0"$/),
  });
  expect(
    shown('apply_patch', (patched as { value: unknown }).value)
      ?.body.split('\n')
      .at(-1),
  ).toBe('c.ts:1:2 unexpected "! exit 0"');
});

test('types are checked once the syntax has no error, and all errors are counted', async () => {
  const { checkSyntax } = checker();
  const asked: string[][] = [];
  const problems = Array.from({ length: 25 }, (_, n) => ({ path: 'a.ts', line: n + 1, column: 1, message: 'wrong' }));
  const language = {
    diagnose: async (changes: readonly { path: string; before: Buffer; after: Buffer }[]) => {
      asked.push(changes.map(({ path, before, after }) => `${path} ${before} ${after}`));
      return problems;
    },
  } as unknown as ToolContext['language'];
  const call = (content: string) =>
    workspace().call('write_file', { path: 'a.ts', content }, { checkSyntax, language });
  expect(await call('!')).toMatchObject({ value: { diagnostics: [error('a.ts')] } });
  expect(asked).toEqual([]);
  const written = await call('fine');
  expect(asked).toEqual([['a.ts  fine']]);
  expect(written).toMatchObject({ value: { diagnostics: problems.slice(0, 20), more_diagnostics: 5 } });
  const { value } = written as { value: unknown };
  expect(shown('write_file', value)?.head).toBe(
    'replaced a.ts: 4 bytes; it brought 25 errors, the first on the last 20 lines',
  );
});

test('a call that failed, or without a check, reports none', async () => {
  await workspace().put('a.ts', 'one\n');
  const { asked, checkSyntax } = checker();
  await workspace().call('edit', { path: 'a.ts', old_string: 'zzz', new_string: '!' }, { checkSyntax });
  expect(asked).toEqual([]);
  expect(await workspace().value('write_file', { path: 'a.ts', content: '!' })).not.toHaveProperty('diagnostics');
});
