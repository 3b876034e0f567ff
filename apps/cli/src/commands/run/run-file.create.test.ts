import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { call, type Ended } from '../../testing/cli.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'hp-run-file-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));
/** No API listens there: `--print` asks none, and a mistake is found before. */
const env = { HOLDPOINT_URL: 'http://127.0.0.1:1', HOLDPOINT_KEY: 'k'.repeat(40) };

const at = (name: string): string => join(root, name);
function file(content: string, name = 'run.yaml'): string {
  writeFileSync(at(name), content);
  return at(name);
}
const run = (args: readonly string[], input = ''): Promise<Ended> => call(['run', ...args], env, input);
async function printed(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await run([...args, '--print', '--json']);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

const empty = { workspace: { source: { type: 'empty' } } };

describe('a run file', () => {
  it.each([
    ['YAML', 'prompt: go\nlimits: { max_turns: 5 }\n'],
    ['JSON', '{"prompt": "go", "limits": {"max_turns": 5}}'],
  ])('is a request in %s', async (_, content) => {
    expect(await printed('--file', file(content))).toEqual({ prompt: 'go', limits: { max_turns: 5 }, ...empty });
  });

  it('is in plan mode with --plan and no file, beside the other modes of the file', async () => {
    const path = file('modes: { deterministic: true }\n');
    expect(await printed('go', '--file', path, '--plan')).toEqual({
      ...{ prompt: 'go', modes: { deterministic: true, plan: true } },
      ...empty,
    });
  });

  it('comes from standard input', async () => {
    const { stdout } = await run(['--file', '-', '--print'], 'prompt: go\ntitle: piped\n');
    expect(parse(stdout)).toEqual({ prompt: 'go', title: 'piped', ...empty });
  });

  it('is overridden by options, and these by --set', async () => {
    const path = file(
      'prompt: go\ntitle: of the file\nmodel: a/file\nnetwork: { allow: [file.org] }\nlabels: { a: file, b: file }\nmodes: { read_only: true }\n',
    );
    const options = ['--title', 'of the option', '--model', 'a/option', '--label', 'b=option', '--dry-run'];
    expect(await printed('--file', path, ...options, '--set', 'title=set', '--set', 'network.allow+=set.org')).toEqual({
      ...{ prompt: 'go', title: 'set', model: 'a/option', network: { allow: ['file.org', 'set.org'] } },
      ...{ labels: { a: 'file', b: 'option' }, modes: { read_only: true, dry_run: true }, ...empty },
    });
  });

  it.each([
    ['a prompt', ['now'], { prompt: 'now' }],
    ['--open', ['--open'], { open: true }],
  ])('gives its goal up for %s', async (_, goal, expected) => {
    const path = file('plan: { groups: [{ steps: [{ tool: bash }] }] }\ntitle: t\n');
    expect(await printed('--file', path, ...goal)).toEqual({ ...expected, title: 't', ...empty });
  });

  it('may leave the goal to the command line, and the source', async () => {
    const path = file(
      'limits: { max_turns: 3 }\nworkspace: { source: { type: git, url: "https://example.com/x", ref: a } }\n',
    );
    const source = { type: 'git', url: 'https://example.com/x', ref: 'b' };
    expect(await printed('go', '--file', path, '--ref', 'b')).toMatchObject({ prompt: 'go', workspace: { source } });
    const other = { type: 'directory', path: root };
    expect(await printed('go', '--file', path, '--source', root)).toMatchObject({ workspace: { source: other } });
    expect(await run(['--file', path, '--print'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Give either'),
    });
  });

  it('stands below the file of a plan', async () => {
    const plan = file('title: of the plan\ngroups: [{ steps: [{ tool: bash }] }]\n', 'plan.yaml');
    const path = file('prompt: go\ntitle: of the file\npriority: high\n');
    const body = await printed('--file', path, '--plan', plan);
    expect(body).toMatchObject({
      title: 'of the plan',
      priority: 'high',
      plan: { groups: [{ steps: [{ tool: 'bash' }] }] },
    });
    expect(body).not.toHaveProperty('prompt');
  });

  it('is written by --print: the same request again', async () => {
    const settings = [
      'limits.max_turns=5',
      'system=two\nlines: # a',
      'labels.yes=no',
      'secrets+={"name":"A","as":{"env":"A"}}',
    ];
    const args = ['go: "on"', '--title', '1.0', ...settings.flatMap((one) => ['--set', one])];
    const { stdout } = await run([...args, '--print']);
    expect(await printed('--file', file(stdout))).toEqual(await printed(...args));
  });
});

it.each([
  [
    'a wrong type',
    'prompt: go\nlimits:\n  max_turns: many\n',
    'run.yaml:3:14: limits.max_turns: expected a number, not a text',
  ],
  [
    'an unknown key',
    'prompt: go\nlimit: { max_turns: 5 }\n',
    'run.yaml:2:1: limit: "limit" is not known here. Nearest: limits',
  ],
  [
    'an unknown key within',
    'prompt: go\nlimits:\n  max_turn: 5\n',
    'run.yaml:3:3: limits.max_turn: "max_turn" is not known here. Nearest: max_turns',
  ],
  [
    'a value out of bounds',
    'prompt: go\nlimits: { max_turns: 0 }\n',
    'run.yaml:2:22: limits.max_turns: expected a number of at least 1',
  ],
  [
    'a choice',
    'prompt: go\npriority: hihg\n',
    'run.yaml:2:11: priority: "hihg" is none of high, normal, low. Nearest: high',
  ],
  [
    'a missing field',
    'prompt: go\nvalidators: [{ name: x }]\n',
    'run.yaml:2:14: validators.0.command: this is missing',
  ],
  [
    'a field of another source',
    'workspace: { source: { type: archive, path: /a, ref: x } }\n',
    'run.yaml:1:49: workspace.source.ref: "ref" does not go with',
  ],
  [
    'a mistake in a policy',
    'policy:\n  rules: [{ match: { tool: x }, action: hodl }]\n',
    'run.yaml:2:41: policy.rules.0.action: "hodl" is none of',
  ],
  ['broken YAML', 'prompt: [\n', 'run.yaml:2:1: '],
  ['a key twice', 'title: a\ntitle: b\n', 'run.yaml:2:1: '],
  ['a list', '- x\n', 'run.yaml:1:1: expected a mapping, not a list'],
  ['a tag', 'title: !secret x\n', 'run.yaml:1:8: '],
])('names the line of %s', async (_, content, message) => {
  const { code, stdout, stderr } = await run(['go', '--file', file(content)]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(`error: ${root}/${message}`);
  expect(stderr).toContain('nothing was submitted');
});

it('takes no prototype from a file', async () => {
  await run(['go', '--print', '--file', file('settings: { "__proto__": { polluted: true } }\n')]);
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

it('names a missing file, and a goal of the file beside a model', async () => {
  expect(await run(['--file', at('none.yaml')])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no file'),
  });
  const open = await run(['--file', file('open: true\nsystem: x\n'), '--set', 'title=t']);
  expect(open.stderr).toContain('run.yaml:2:9: system: system belongs to a prompt');
});

describe('fields of a source behind --set', () => {
  beforeAll(() => {
    mkdirSync(at('plain'));
    writeFileSync(at('file.tar'), '');
    writeFileSync(at('hosts'), 'example.com ssh-ed25519 AAAA\n');
    execFileSync('git', ['init', '-q', at('work')]);
  });
  const sourceOf = async (source: string | undefined, ...fields: string[]) => {
    const set = fields.flatMap((field) => ['--set', `workspace.source.${field}`]);
    return run(['go', ...(source === undefined ? [] : ['--source', source]), ...set, '--print']);
  };

  it.each([
    [
      'part of a work tree',
      'work',
      ['include+=src/**', 'exclude+=*.log'],
      { type: 'git', include: ['src/**'], exclude: ['*.log'] },
    ],
    [
      'folders of a work tree',
      'work',
      ['with+=node_modules', 'with+=a/.venv'],
      { type: 'git', with: ['node_modules', 'a/.venv'] },
    ],
    ['a folder of a directory', 'plain', ['with+=x'], { type: 'directory', with: ['x'] }],
    ['a work tree as files', 'work', ['type=directory'], { type: 'directory' }],
    [
      'the history of a URL',
      'https://example.com/x',
      ['credentials.secret=TOKEN', 'history=5'],
      { credentials: { secret: 'TOKEN' }, history: 5 },
    ],
  ])('%s', async (_, source, fields, expected) => {
    const { stdout } = await sourceOf(source.startsWith('https') ? source : at(source), ...fields);
    expect(parse(stdout).workspace.source).toMatchObject(expected);
  });

  it('keys of a host, from a file', async () => {
    const { stdout } = await sourceOf('git@example.com:x.git', `known_hosts=@${at('hosts')}`);
    expect(parse(stdout).workspace.source.known_hosts).toBe('example.com ssh-ed25519 AAAA\n');
  });

  it.each([
    ['a folder of an archive', 'file.tar', 'with+=x', 'does not go with'],
    ['a folder of a URL', 'https://example.com/x', 'with+=x', 'only a source with a path has folders'],
    ['a folder of nothing', undefined, 'with+=x', 'needs --source'],
    ['a part of nothing', undefined, 'include+=src', 'needs --source'],
    ['a secret of a directory', 'plain', 'credentials.secret=TOKEN', 'does not go with'],
    ['a secret of a work tree', 'work', 'credentials.secret=TOKEN', 'only a source with a url'],
    [
      'a user without a secret',
      'https://example.com/x',
      'credentials.username=me',
      'credentials.secret: this is missing',
    ],
    ['history of a directory', 'plain', 'history=5', 'does not go with'],
  ])('refuses %s', async (_, source, field, message) => {
    const from = source === undefined || source.startsWith('https') ? source : at(source);
    expect(await sourceOf(from, field)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
  });
});
