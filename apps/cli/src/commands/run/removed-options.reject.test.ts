import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createRunSchema } from '@holdpoint/contract/wire';
import { Option } from 'commander';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { call } from '../../testing/cli.ts';
import { removedOptions } from './removed-options.ts';

interface Former {
  given: string[];
  removed: string[];
  body: Record<string, unknown>;
}
/** Requests that the command sent while it had these options. */
const golden = readFileSync(new URL('removed-options.golden.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): Former => JSON.parse(line));

const root = realpathSync(mkdtempSync(join(tmpdir(), 'hp-removed-')));
const files = {
  'task.md': 'Fix the tests.\nAll of them.\n',
  'system.md': 'Be brief.\nUse "quotes".\n',
  'schema.yaml': 'type: object\nproperties: { ok: { type: boolean } }\n',
  'settings.json': '{"depth": 3, "list": [1]}',
  'hosts.txt': 'example.com ssh-ed25519 AAAA\n',
  'reviewer.md': '---\ndescription: Finds mistakes\ntools: read_file, glob\nmax_turns: 5\n---\nLook well.\n',
  'files.tar': '',
};
let body: unknown;
/** Keeps the body of a request to submit a run, and refuses the run. */
const api = createServer(async (request, response) => {
  body = JSON.parse(await text(request));
  const problem = { code: 'captured', status: 422, detail: 'captured', next: '', errors: [] };
  response.writeHead(422, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
});
let env: Record<string, string>;

beforeAll(async () => {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(root, name), content);
  writeFileSync(join(root, 'a.png'), Buffer.from('89504e470d0a1a0a', 'hex'));
  mkdirSync(join(root, 'plain'));
  execFileSync('git', ['init', '-q', join(root, 'work')]);
  await new Promise<void>((done) => api.listen(0, '127.0.0.1', done));
  env = { HOLDPOINT_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}`, HOLDPOINT_KEY: 'k'.repeat(40) };
});
afterAll(() => {
  api.close();
  rmSync(root, { recursive: true, force: true });
});

const placed = (words: readonly string[]): string[] => words.map((word) => word.replaceAll('{root}', root));

async function submit(words: readonly string[], input = ''): Promise<{ stderr: string; sent: unknown }> {
  body = undefined;
  const { stderr, code } = await call(['run', ...words], env, input);
  expect(code).toBe(2);
  return { stderr, sent: body };
}

/** The words between the first backticks after `is now`, as bash reads them. */
function newForms(stderr: string): string[] {
  const forms = [...stderr.matchAll(/ is now `(.*?)`, or in a run file: /gs)].map(([, form]) => form);
  const script = `printf '%s\\0' ${forms.join(' ').replaceAll(' < ', ' INPUT ')}`;
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

/** As the API reads a body, with all defaults. */
const readByApi = (sent: unknown): unknown =>
  createRunSchema.parse(JSON.parse(JSON.stringify(sent).replaceAll(root, '{root}')));

const formerSettings = golden.filter(({ removed }) => removed[0] === '--set');
const formerOptions = golden.filter(({ removed }) => removed[0] !== '--set');

it.each(formerOptions)(
  '$removed is refused, and the new form submits the same run',
  async ({ given, removed, body }) => {
    const refused = await submit(placed([...given, ...removed]));
    expect(refused.sent).toBeUndefined();
    expect(refused.stderr).toContain('Nothing was submitted.');
    const words = newForms(refused.stderr);
    const at = words.indexOf('INPUT');
    const input = at < 0 ? '' : readFileSync(words[at + 1] ?? '', 'utf8');
    const { sent } = await submit([...placed(given), ...(at < 0 ? words : words.toSpliced(at, 2))], input);
    expect(readByApi(sent)).toEqual(readByApi(body));
  },
);

it.each(formerOptions)(
  'the fields of a run file for $removed are those of the request',
  async ({ given, removed, body }) => {
    const { stderr } = await submit(placed([...given, ...removed]));
    for (const [, fields = ''] of stderr.matchAll(/or in a run file: `(\w+: .*)`$/gm)) {
      const [[name, value] = ['', undefined]] = Object.entries<object>(parse(fields));
      const sent = body[name];
      if (name === 'secrets') expect(sent).toEqual(expect.arrayContaining(value as object[]));
      else expect({ [name]: sent }).toMatchObject({ [name]: value });
    }
  },
);

it.each(formerSettings)('$removed, once a setting, names the place of settings', async ({ given, removed, body }) => {
  const settings = Object.entries(body.settings ?? {});
  const refused = await submit([...given, ...removed]);
  expect(refused.sent).toBeUndefined();
  const [first] = removed.slice(1);
  if (!first?.includes('.')) expect(refused.stderr).toContain(`--set settings.${first}`);
  const now = removed.map((word) => (word === '--set' ? word : `settings.${word.replace('.', '\\.')}`));
  const { sent } = await submit([...given, ...now]);
  expect(settings.length).toBeGreaterThan(0);
  expect(readByApi(sent)).toEqual(readByApi(body));
});

it('has a former body for each removed option', () => {
  const tried = new Set(formerOptions.flatMap(({ removed }) => removed));
  const missing = removedOptions.map(([flags]) => new Option(flags).long ?? '').filter((option) => !tried.has(option));
  expect(missing).toEqual([]);
});

it('answers with the exact form of a value', async () => {
  const { stderr } = await submit(['go', '--max-turns', '5', '--protect', 'a b', '--no-instructions']);
  expect(stderr).toContain(
    '`--max-turns` is now `--set limits.max_turns=5`, or in a run file: `limits: { max_turns: 5 }`',
  );
  expect(stderr).toContain(
    `\`--protect\` is now \`--set 'protected=["a b"]'\`, or in a run file: \`protected: [ a b ]\``,
  );
  expect(stderr).toContain('`--no-instructions` is now `--set instructions=false`');
});
