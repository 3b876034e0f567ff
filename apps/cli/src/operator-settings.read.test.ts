import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiBounds } from '@holdpoint/contract/wire';
import { afterAll, describe, expect, test } from 'vitest';
import { checkBounds } from './doctor/check-bounds.ts';
import { readOperatorSettings } from './operator-settings.ts';
import { call } from './testing/cli.ts';

const root = mkdtempSync(join(tmpdir(), 'hp-settings-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const file = (name: string, text: string): string => {
  writeFileSync(join(root, name), text);
  return join(root, name);
};
const rules = (...matches: object[]) => JSON.stringify({ rules: matches.map((match) => ({ match, action: 'hold' })) });

const mistakes: [string, Record<string, string>, string][] = [
  ['no such file', { HOLDPOINT_POLICY: join(root, 'nope.json') }, 'no such file'],
  ['no JSON', { HOLDPOINT_POLICY: file('bad.json', '{bad') }, 'JSON'],
  ['a field with another name', { HOLDPOINT_POLICY: file('key.json', '{"rule": []}') }, '"rule"'],
  ['a relative policy', { HOLDPOINT_POLICY: 'policy.json' }, 'absolute path'],
  ['no such tool', { HOLDPOINT_POLICY: file('tool.json', rules({ tool: 'edti' })) }, 'Nearest: edit'],
  [
    'never that effect',
    { HOLDPOINT_POLICY: file('effect.json', rules({ tool: 'ask_user', effect: 'workspace' })) },
    'never',
  ],
  ['a relative root', { HOLDPOINT_SOURCE_ROOTS: '/srv:code' }, 'code is not an absolute path'],
  ['a relative target', { HOLDPOINT_PUBLISH_ROOTS: '~/code' }, 'not an absolute path'],
  ['limits that are no JSON', { HOLDPOINT_LIMITS: 'max_turns=5' }, 'JSON'],
  ['a limit that is text', { HOLDPOINT_LIMITS: '{"max_turns": "5"}' }, 'HOLDPOINT_LIMITS.max_turns'],
  ['a relative module of tools', { HOLDPOINT_TOOLS: './tools.ts' }, 'relative path'],
  ['no such module of tools', { HOLDPOINT_TOOLS: join(root, 'nope.mjs') }, 'nope.mjs'],
  ['a module without tools', { HOLDPOINT_TOOLS: file('none.mjs', 'export const a = 1;') }, 'exports no toolset, but a'],
  ['a model without a provider', { HOLDPOINT_MODEL: 'gpt-4' }, 'provider/model'],
  ['no such file of instructions', { HOLDPOINT_INSTRUCTIONS: join(root, 'nope.md') }, 'HOLDPOINT_INSTRUCTIONS: ENOENT'],
  ['long instructions', { HOLDPOINT_INSTRUCTIONS: 'x'.repeat(100_001) }, '100001 characters'],
  ['no such folder of agents', { HOLDPOINT_AGENTS: join(root, 'nope') }, 'HOLDPOINT_AGENTS: ENOENT'],
  ['a relative folder of agents', { HOLDPOINT_AGENTS: 'agents' }, 'absolute path'],
  ['no such limit', { HOLDPOINT_LIMITS: '{"max_turn": 5}' }, 'max_turn'],
];

describe.each(mistakes)("a mistake in the operator's settings: %s", (_, env, words) => {
  const [name = ''] = Object.keys(env);

  test('up names the variable and the mistake before it starts anything', async () => {
    const dataDir = join(root, `data-${name}`);
    const { code, stderr } = await call(['up'], { ...env, HOLDPOINT_DATA: dataDir, HOLDPOINT_PORT: '0' });
    expect(code).toBe(2);
    expect(stderr).toContain(name);
    expect(stderr).toContain(words);
    expect(stderr).toContain('Correct or unset the variable.');
    expect(existsSync(dataDir)).toBe(false);
  });

  test('doctor fails with the same words', async () => {
    const [finding] = await checkBounds({ environment: env }, { api: undefined, workers: [] });
    expect(finding).toMatchObject({ level: 'fail', text: expect.stringContaining(words), next: expect.any(String) });
    expect(finding?.text).toContain(name);
  });
});

describe('doctor compares', () => {
  const open: ApiBounds = {
    policy: null,
    source_roots: [],
    publish_roots: [],
    git_hosts: ['*'],
    ceilings: { max_turns: 50 },
    model: { name: null, problem: null },
  };
  const worker = (bounds: Partial<ApiBounds> = {}) => {
    const { ceilings, model: _, ...rest } = { ...open, ...bounds };
    return { id: 'w1', bounds: rest, ceilings };
  };
  const levels = (environment: Record<string, string>, api: ApiBounds | undefined, ...workers: object[]) =>
    checkBounds({ environment }, { api, workers: workers as [] }).then((all) =>
      all.map(({ name, level }) => [name, level]),
    );

  test('the API with the workers', async () => {
    expect(await levels({}, open, worker(), worker())).toEqual([
      ['limits', 'ok'],
      ['bounds', 'ok'],
    ]);
    expect(await levels({}, open, worker({ source_roots: ['/srv'] }))).toContainEqual(['bounds', 'warn']);
    expect(await levels({}, open, worker({ ceilings: {} }))).toContainEqual(['limits', 'warn']);
    const [, bounds] = await checkBounds({ environment: {} }, { api: open, workers: [worker({ policy: 'sha256:0' })] });
    expect(bounds?.text).toMatch(/the API: no operator's policy.*\nworker w1: operator's policy/);
  });

  test('running programs with the settings of this shell', async () => {
    expect(await levels({ HOLDPOINT_SOURCE_ROOTS: root }, open, worker())).toContainEqual(['bounds', 'warn']);
    expect(await levels({ HOLDPOINT_SOURCE_ROOTS: root }, undefined)).toContainEqual(['bounds', 'ok']);
    const narrow = { source_roots: [root] };
    const same = await levels({ HOLDPOINT_SOURCE_ROOTS: `${root}/` }, { ...open, ...narrow }, worker(narrow));
    expect(same).toEqual([
      ['limits', 'ok'],
      ['bounds', 'ok'],
    ]);
  });

  test('roots with the directories that exist', async () => {
    const there = join(root, 'there');
    mkdirSync(there);
    const env = { HOLDPOINT_SOURCE_ROOTS: `${there}:${root}/not-there` };
    const found = await checkBounds({ environment: env }, { api: undefined, workers: [] });
    expect(found.at(-1)).toMatchObject({
      level: 'warn',
      text: `${root}/not-there is a root, but no such directory exists`,
    });
  });
});

test('reads correct settings', async () => {
  const policy = file('good.json', rules({ tool: 'edit' }, { effect: 'external' }));
  const env = { HOLDPOINT_POLICY: policy, HOLDPOINT_LIMITS: '{"max_turns": 5}', HOLDPOINT_PUBLISH_ROOTS: '/srv/' };
  expect(await readOperatorSettings(env)).toMatchObject({
    policy: { rules: [{ match: { tool: 'edit' } }, { match: { effect: 'external' } }] },
    ceilings: { max_turns: 5 },
    ...{ sourceRoots: [], publishRoots: ['/srv'] },
  });
});
