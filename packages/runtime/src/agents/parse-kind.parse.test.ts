import { expect, test } from 'vitest';
import { type KindDocument, parseKind } from './parse-kind.ts';

const tools = ['read_file', 'write_file', 'edit', 'list_directory', 'bash', 'web_fetch'];
const read = (text: string, more: Partial<KindDocument> = {}) =>
  parseKind({ origin: 'workspace', file: '.holdpoint/agents/reviewer.md', isForeign: false, text, ...more }, tools);
const kindOf = (front: string, more?: Partial<KindDocument>) => {
  const parsed = read(`---\n${front}\n---\nBe careful.\n`, more);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.kind;
};
const errorOf = (front: string, more?: Partial<KindDocument>) => {
  const parsed = read(`---\n${front}\n---\nBe careful.\n`, more);
  return parsed.ok ? undefined : parsed.error;
};

test('the front matter says what the kind has, the text below what it reads', () => {
  const front = [
    'name: auditor',
    'description: |\n  Finds mistakes\n  of others',
    'tools: [read_file, bash]',
    'model: openai/gpt-5',
    'permissions: [fs:read, "exec:git"]',
    'protected: [".github/**"]',
    'modes: { read_only: true }',
    'limits: { max_tokens: 1000, wall_s: 60 }',
    'max_turns: 5',
  ].join('\n');
  expect(kindOf(front)).toEqual({
    ...{ name: 'auditor', origin: 'workspace', file: '.holdpoint/agents/reviewer.md' },
    ...{ description: 'Finds mistakes of others', instructions: 'Be careful.' },
    ...{ model: 'openai/gpt-5', tools: ['read_file', 'bash'], permissions: ['fs:read', 'exec:git'] },
    ...{ protected: ['.github/**'], modes: { read_only: true } },
    limits: { max_tokens: 1000, wall_s: 60, max_turns: 5 },
  });
});

test('its file names a kind without a name; Windows line ends and a byte order mark do not matter', () => {
  const parsed = read('\ufeff---\r\ndescription: x\r\n---\r\nBe careful.\r\n\r\n---\r\nA rule.');
  expect(parsed).toMatchObject({ ok: true, kind: { name: 'reviewer', instructions: 'Be careful.\n\n---\nA rule.' } });
});

test('a document for another program keeps what it means here', () => {
  const front = 'description: x\ntools: Read, Bash, WebFetch, MultiEdit, LS, mcp__x\nmodel: sonnet\ncolor: red';
  const kind = kindOf(front, { isForeign: true });
  expect(kind.tools).toEqual(['read_file', 'bash', 'web_fetch', 'edit', 'list_directory']);
  expect(kind.model).toBeUndefined();
  expect(kindOf('description: x').tools).toBeUndefined();
});

test.each([
  ['there is no key colour. Nearest: ', 'description: x\ncolour: red'],
  ['description: ', 'name: x'],
  ['name: expected up to 64 letters', 'description: x\nname: a b'],
  ['none of its tools is a tool of this run', 'description: x\ntools: [fly, "dance(*)"]'],
  ['/permissions/0', 'description: x\npermissions: [fs:fly]'],
  ['/protected/0', 'description: x\nprotected: [../secrets]'],
  ['limits.max_tokens', 'description: x\nlimits: { max_tokens: 0 }'],
  ['limits', 'description: x\nlimits: { max_tokns: 5 }'],
  ['its front matter is no YAML', 'description: ['],
  ['its front matter has no keys', '- description'],
  ['longer than 4096', `description: ${'x'.repeat(5000)}`],
  ['its front matter is no YAML', `description: ${'['.repeat(3000)}`],
  ['its front matter is no YAML', `a: &a [x, x, x]\n${Array.from({ length: 200 }, (_, n) => `k${n}: *a`).join('\n')}`],
])('a mistake is an error in words: %s', (words, front) => {
  expect(errorOf(front)).toContain(words);
});

test('what is no document is an error, whatever it has', () => {
  expect(read('Be careful.')).toMatchObject({ error: expect.stringContaining('front matter') });
  expect(read('---\ndescription: x\n---\n \n')).toMatchObject({ error: expect.stringContaining('no instructions') });
  expect(read('---\ndescription: x\n---\nBe.', { file: '.holdpoint/agents/a b.md' })).toMatchObject({ ok: false });
  expect(read(`---\n${'-'.repeat(60_000)}`)).toMatchObject({ ok: false });
});

test("the operator's model is named whole", () => {
  expect(errorOf('description: x\nmodel: sonnet', { origin: 'operator' })).toContain('expected provider/model');
  expect(kindOf('description: x\nmodel: inherit', { origin: 'operator' }).model).toBeUndefined();
});
