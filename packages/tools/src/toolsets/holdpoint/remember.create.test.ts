import { expect, test } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';

const workspace = useWorkspace();
const now = () => Date.UTC(2026, 0, 2);
const path = '.holdpoint/notes.md';
const notes = async () =>
  (await workspace().get(path))
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('- '));
const remember = (note: string, runId = 'run_1') => workspace().call('remember', { note }, { now, runId });

test('each note is a line with its day and its run, below a line about the file', async () => {
  expect(await remember('Tests need `make db`.')).toMatchObject({
    status: 'succeeded',
    value: { path, notes: 1 },
    touched: [path],
  });
  expect(await remember('The API is in src/http.', 'run_2')).toMatchObject({ value: { notes: 2 } });
  expect((await workspace().get(path)).toString()).toMatch(
    /^# Notes of runs\n\n.*\n\n- 2026-01-02, run_1: Tests need `make db`\.\n- 2026-01-02, run_2: The API is in src\/http\.\n$/,
  );
});

test('a note that is there already is not added again', async () => {
  await remember('Use tabs.');
  expect(await remember('Use tabs.', 'run_2')).toMatchObject({ status: 'succeeded', value: { notes: 1 }, touched: [] });
  expect(await notes()).toEqual(['- 2026-01-02, run_1: Use tabs.']);
});

test('a file that a person changed keeps their words', async () => {
  await workspace().put(path, 'Our notes\n- mine: keep calm');
  await remember('Use tabs.');
  expect((await workspace().get(path)).toString()).toBe(
    'Our notes\n- mine: keep calm\n- 2026-01-02, run_1: Use tabs.\n',
  );
});

test.each([
  ['two lines', 'one\n- 2026-01-01, run_9: two'],
  ['an invisible character', 'use\u200b tabs'],
  ['a change of direction', 'use \u202e tabs'],
  ['nothing', '  '],
  ['more than 500 characters', 'x'.repeat(501)],
])('%s is refused', async (_, note) => {
  expect(await remember(note)).toMatchObject({ status: 'failed', error: { code: 'EINVALIDARGS' } });
});

test('a full file and a file that is no text are refused, and nothing is written', async () => {
  await workspace().put(path, `- ${'x'.repeat(65_520)}\n`);
  expect(await remember('Use tabs.')).toMatchObject({ status: 'failed', error: { code: 'ETOOLARGE' } });
  expect(await notes()).toHaveLength(1);
  await workspace().put(path, `- ${'x'.repeat(200_000)}\n`);
  expect(await remember('Use tabs.')).toMatchObject({ status: 'failed', error: { code: 'ETOOLARGE' } });
  expect((await workspace().get(path)).length).toBe(200_003);
  await workspace().put(path, Buffer.from([0xff, 0x0a]));
  expect(await remember('Use tabs.')).toMatchObject({ status: 'failed', error: { code: 'ETOOLARGE' } });
  expect(await workspace().get(path)).toEqual(Buffer.from([0xff, 0x0a]));
});
