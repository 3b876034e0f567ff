import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { type FileRename, LanguageError, type LanguagePort } from '../language/port.ts';
import { useWorkspace } from '../testing/workspace.ts';

const workspace = useWorkspace();

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
const args = { path: './src/a.ts', line: 1, symbol: 'one', new_name: 'two' };

/** Language servers that answer with these renames, and what they were asked. */
function answering(files: FileRename[]) {
  const asked: unknown[] = [];
  const language: LanguagePort = {
    diagnose: async () => [],
    definition: async () => ({ places: [], total: 0 }),
    references: async () => ({ places: [], total: 0 }),
    rename: async (named) => {
      asked.push(named);
      return files;
    },
  };
  return { asked, language };
}

const a = '\uFEFF// 😀 one\r\none(one);\r\n';
const b = 'export const one = 1;\n';
/** Offsets count UTF-16 units behind the byte order mark: the emoji has two. */
const ofA = {
  path: 'src/a.ts',
  sha256: digest(a),
  edits: [11, 15].map((start) => ({ start, end: start + 3, text: 'two' })),
};
const ofB = { path: 'b.ts', sha256: digest(b), edits: [{ start: 13, end: 16, text: 'two' }] };

test('all files are changed, byte for byte outside of the names', async () => {
  await workspace().put('src/a.ts', a);
  await workspace().put('b.ts', b);
  const { asked, language } = answering([ofA, ofB]);
  const outcome = await workspace().call('rename', args, { language });
  expect(asked).toEqual([{ ...args, path: 'src/a.ts' }]);
  expect(outcome).toMatchObject({
    status: 'succeeded',
    value: { files: [{ path: 'src/a.ts' }, { path: 'b.ts' }], diff_truncated: false },
    touched: ['src/a.ts', 'b.ts'],
  });
  expect((await workspace().get('src/a.ts')).toString()).toBe('\uFEFF// 😀 one\r\ntwo(two);\r\n');
  expect((await workspace().get('b.ts')).toString()).toBe('export const two = 1;\n');
});

test('its errors of types are in the result', async () => {
  await workspace().put('b.ts', b);
  const { language } = answering([ofB]);
  const wrong = { path: 'b.ts', line: 1, column: 14, message: 'taken' };
  const outcome = await workspace().call('rename', args, {
    language: { ...language, diagnose: async (changes) => (changes[0]?.after.includes('two') ? [wrong] : []) },
  });
  expect(outcome).toMatchObject({ value: { diagnostics: [wrong] } });
});

test.each<[string, FileRename[], string]>([
  ['edits that overlap', [ofB, { ...ofA, edits: [...ofA.edits, { start: 17, end: 20, text: '' }] }], 'ERENAME'],
  ['edits behind the end', [ofB, { ...ofA, edits: [{ start: 0, end: 9000, text: '' }] }], 'ERENAME'],
  ['edits that run backwards', [ofB, { ...ofA, edits: [{ start: 5, end: 2, text: '' }] }], 'ERENAME'],
  ['a file outside', [ofB, { ...ofA, path: '../../etc/passwd' }], 'EOUTSIDE'],
  ['a missing file', [ofB, { ...ofA, path: 'none.ts' }], 'ENOENT'],
  ['a file that changed since', [ofB, { ...ofA, sha256: digest('') }], 'ECHANGED'],
  ['too many files', Array.from({ length: 501 }, () => ofB), 'ERENAME'],
])('%s: nothing is changed', async (_, files, code) => {
  await workspace().put('src/a.ts', a);
  await workspace().put('b.ts', b);
  const outcome = await workspace().call('rename', args, { language: answering(files).language });
  expect(outcome).toMatchObject({ status: 'failed', error: { code } });
  expect((await workspace().get('src/a.ts')).toString()).toBe(a);
  expect((await workspace().get('b.ts')).toString()).toBe(b);
});

test('a file that is not UTF-8 stays, and so do the others', async () => {
  const bytes = Buffer.from('one \xff', 'latin1');
  await workspace().put('b.ts', b);
  await workspace().put('src/a.ts', bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const files = [ofB, { path: 'src/a.ts', sha256, edits: [{ start: 0, end: 3, text: 'two' }] }];
  const outcome = await workspace().call('rename', args, { language: answering(files).language });
  expect(outcome).toMatchObject({ status: 'failed', error: { code: 'ERENAME' } });
  expect(await workspace().get('src/a.ts')).toEqual(bytes);
  expect((await workspace().get('b.ts')).toString()).toBe(b);
});

test('without servers, or with a question that has no answer, the call says what to do', async () => {
  expect(await workspace().call('rename', args)).toMatchObject({ status: 'failed', error: { code: 'ENOSERVER' } });
  const language: LanguagePort = {
    ...answering([]).language,
    definition: () => Promise.reject(new LanguageError('ENOSYMBOL', 'Not there.', 'Look again.')),
  };
  const { new_name: _, ...named } = args;
  expect(await workspace().call('definition', named, { language })).toMatchObject({
    status: 'failed',
    error: { code: 'ENOSYMBOL', message: 'Not there.', next: 'Look again.' },
  });
  expect(await workspace().call('rename', { ...args, new_name: 'a b' }, { language })).toMatchObject({
    error: { code: 'EINVALIDARGS' },
  });
});
