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
    head: 'changed a.ts: 1 replacement; it brought 1 syntax error, on the last line',
    body: expect.stringMatching(/\+!\n two\n\na\.ts:1:2 unexpected "! exit 0"$/),
  });
  expect(
    shown('apply_patch', (patched as { value: unknown }).value)
      ?.body.split('\n')
      .at(-1),
  ).toBe('c.ts:1:2 unexpected "! exit 0"');
});

test('a call that failed, or without a check, reports none', async () => {
  await workspace().put('a.ts', 'one\n');
  const { asked, checkSyntax } = checker();
  await workspace().call('edit', { path: 'a.ts', old_string: 'zzz', new_string: '!' }, { checkSyntax });
  expect(asked).toEqual([]);
  expect(await workspace().value('write_file', { path: 'a.ts', content: '!' })).not.toHaveProperty('diagnostics');
});
