import { execFileSync } from 'node:child_process';
import { rgPath } from '@vscode/ripgrep';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { useWorkspace } from '../testing/workspace.ts';
import { type FileSearch, searchFiles } from './search-files.ts';

const workspace = useWorkspace();
const query = {
  ...{ path: '.', case_insensitive: false, before: 0, after: 0, include_ignored: true, deadline_ms: 30_000 },
  output_mode: 'content',
} as const;

async function search(more: Partial<FileSearch<'content'>> & { pattern: string }) {
  const result = await searchFiles(workspace().context(), { ...query, ...more });
  if (!result.ok) throw new Error(`${result.failure.error.code} ${result.failure.error.message}`);
  return result;
}

test('counts the text files that passed the filter', async () => {
  const { put } = workspace();
  await put('a.txt', 'x\ny\n');
  await put('empty.txt', '');
  await put('late.txt', Buffer.concat([Buffer.alloc(200_000, 'x'), Buffer.from([10, 0, 10])]));
  await put('bin', Buffer.from([0, 120, 10]));
  await put('new\nline.txt', 'z');
  await put('other.md', 'x');
  await put('.git/x.txt', 'x');
  expect(await search({ pattern: 'y', glob: '*.txt', count_files: true })).toMatchObject({
    items: [{ path: 'a.txt', line: 2, text: 'y' }],
    files_searched: 3,
    totals: { lines: 1, matches: 1, files: 1 },
    cut: false,
  });
  expect((await search({ pattern: 'none', count_files: true })).files_searched).toBe(4);
  expect((await search({ pattern: 'x', glob: '**/*' })).items.map(({ path }) => path)).not.toContain('.git/x.txt');
});

test('shows lines before and after each on their own', async () => {
  await workspace().put('f', 'one\ntwo\nthree\nfour\nfive\n');
  const [before] = (await search({ pattern: 'three', before: 2 })).items;
  expect(before).toEqual({ path: 'f', line: 3, text: 'three', before: ['one', 'two'] });
  const [both] = (await search({ pattern: 'two', before: 3, after: 1 })).items;
  expect(both).toMatchObject({ before: ['one'], after: ['three'] });
});

test('returns far more than 64 KiB of matches', async () => {
  await workspace().put('big', 'match this line of text\n'.repeat(20_000));
  const { items, totals, cut } = await search({ pattern: 'match' });
  expect([items.length, totals?.lines, cut]).toEqual([20_000, 20_000, false]);
});

test('returns what was found when the time is over', async () => {
  const { put, context } = workspace();
  await put('a', 'first\n');
  const tools = context();
  // The real search, as if ripgrep had printed nothing more until the deadline.
  const slow: typeof tools = {
    ...tools,
    search: async (request) => ({ ...(await tools.search(request)), end: { status: 'timed_out', after_ms: 1500 } }),
  };
  const result = await searchFiles(slow, { ...query, pattern: 'first', deadline_ms: 1500, count_files: true });
  expect(result).toMatchObject({
    ok: true,
    timed_out: true,
    cut: true,
    items: [{ path: 'a', line: 1 }],
    files_searched: null,
  });
});

test('refuses a bad pattern, glob, type or path', async () => {
  const tools = workspace().context();
  const asked = (more: object) => searchFiles(tools, { ...query, pattern: 'x', ...more });
  expect(await asked({ pattern: '(' })).toMatchObject({ ok: false, failure: { error: { code: 'EINVALIDPATTERN' } } });
  expect(await asked({ type: 'nope' })).toMatchObject({ ok: false, failure: { error: { code: 'EINVALIDTYPE' } } });
  for (const glob of ['[a', '!{a', '/src/('])
    await expect(asked({ glob })).rejects.toMatchObject({ code: 'EGLOBINVALID' });
  await expect(asked({ path: 'none' })).rejects.toMatchObject({ code: 'ENOENT' });
  expect(await asked({ pattern: '(', literal: true, glob: '!src/*.ts' })).toMatchObject({ ok: true, items: [] });
});

test('agrees with ripgrep', async () => {
  const { path, put, context } = workspace();
  const word = fc.constantFrom('ab', 'AB', 'a.b', '$&', '𝄞', 'é', ' ', '\t', '-', ':', '1:2', '\uFEFF', '\\');
  const line = fc.array(word, { maxLength: 4 }).map((words) => words.join(''));
  const content = fc.tuple(fc.array(line, { maxLength: 6 }), fc.constantFrom('\n', '\r\n'), fc.boolean());
  const name = fc.constantFrom('a', 'b.ts', 'd/c:1', 'd/new\nline', '-dash', 'é');
  const files = fc.dictionary(name, content, { minKeys: 1, maxKeys: 4 });
  const pattern = fc.constantFrom('a', 'a.b', '^', '$', 'b$', 'é', '\\$&', '[[:space:]]', '^-', '𝄞|1:');
  const search = fc.record({
    files,
    pattern,
    literal: fc.boolean(),
    case_insensitive: fc.boolean(),
    before: fc.nat(1),
    after: fc.nat(1),
  });
  await fc.assert(
    fc.asyncProperty(search, async ({ files, ...asked }) => {
      for (const name of ['a', 'b.ts', 'd/c:1', 'd/new\nline', '-dash', 'é']) {
        const [lines, ending, ends] = files[name] ?? [[], '\n', false];
        await put(name, lines.join(ending) + (ends ? ending : ''));
      }
      const found = await searchFiles(context(), { ...query, ...asked });
      expect(found.ok && found.items.map(({ path, line, text }) => ({ path, line, text }))).toEqual(
        reference(path, asked),
      );
    }),
    { numRuns: 25 },
  );
});

/** What ripgrep itself says, as JSON. */
function reference(
  cwd: string,
  { pattern, literal, case_insensitive }: { pattern: string; literal: boolean; case_insensitive: boolean },
) {
  const flags = [
    '--json',
    '--sort=path',
    '--crlf',
    '--hidden',
    '--no-ignore',
    ...(literal ? ['-F'] : []),
    ...(case_insensitive ? ['-i'] : []),
  ];
  const run = ['-c', '"$@" || [ $? = 1 ]', 'sh', rgPath, ...flags, '-e', pattern, '--', '.'];
  const output = execFileSync('/bin/sh', run, { cwd, encoding: 'utf8' });
  type Line = { type: string; data: { path: { text: string }; line_number: number; lines: { text: string } } };
  return output
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)
    .filter(({ type }) => type === 'match')
    .map(({ data }) => ({
      path: data.path.text.slice(2),
      line: data.line_number,
      text: data.lines.text.replace(/\r?\n$/, ''),
    }));
}
