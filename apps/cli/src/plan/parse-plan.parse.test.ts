import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CliError } from '../shell/index.ts';
import { parsePlan } from './plan-file.ts';

const example = (name: string) =>
  readFileSync(new URL(`../../../../examples/${name}.plan.yaml`, import.meta.url), 'utf8');
const step = '  - steps:\n      - { tool: bash, args: { command: ls } }\n';

function mistakes(text: string): string[] {
  try {
    parsePlan(text, 'p.yaml');
  } catch (error) {
    if (error instanceof CliError && error.code === 'bad_plan') return error.message.split('\n');
    throw error;
  }
  return [];
}

describe('a plan file', () => {
  it.each(['pagelist', 'cuelines'])('parses the example %s', (name) => {
    const { file } = parsePlan(example(name), `${name}.plan.yaml`);
    expect(file.plan?.groups[0]).toMatchObject({
      on_error: 'continue',
      steps: [{ name: 'failing_tests', tool: 'bash' }],
    });
    expect(file.policy).toMatchObject({ rules: [{ match: { tool: 'edit' }, action: 'hold' }] });
    expect(file.plan?.groups.flatMap(({ steps }) => steps).map(({ name: of }) => of)).toContain('passing_tests');
  });

  it('may be JSON', () => {
    const { file } = parsePlan('{"groups": [{"steps": [{"tool": "bash", "args": {"command": "ls"}}]}]}', 'p.json');
    expect(file).toEqual({
      plan: { groups: [{ on_error: 'stop', steps: [{ tool: 'bash', args: { command: 'ls' } }] }] },
    });
  });

  it('may name validators', () => {
    const { file } = parsePlan(`validators:\n  - { name: tests, command: npm test }\ngroups:\n${step}`, 'p');
    expect(file.validators).toEqual([{ name: 'tests', command: 'npm test', timeout_s: 600 }]);
    expect(mistakes(`validators: [npm test]\ngroups:\n${step}`)[0]).toMatch(/^p\.yaml:1:14: validators\.0: /);
  });

  it('may have a prompt in place of groups', () => {
    const { file } = parsePlan('prompt: fix it\nmodel: a/b\nprepare: { commands: [{ command: npm ci }] }\n', 'p');
    expect(file).toMatchObject({ prompt: 'fix it', model: 'a/b', prepare: { commands: [{ timeout_s: 1800 }] } });
    expect(file.plan).toBeUndefined();
    expect(mistakes(`prompt: x\ngroups:\n${step}`)).toEqual(['p.yaml:3:3: groups: give either groups or a prompt']);
    expect(mistakes(`model: a/b\ngroups:\n${step}`)[0]).toMatch(/^p\.yaml:1:8: model: model belongs to a prompt/);
  });

  it('says each mistake once, in plain words', () => {
    expect(mistakes('title: x\n')).toEqual(['p.yaml:1:1: groups: a plan has groups of steps, or a prompt']);
    expect(mistakes('groups:\n  - steps:\n      - args: {}\n')).toEqual([
      'p.yaml:3:9: groups.0.steps.0.tool: this is missing',
    ]);
    expect(mistakes(`limits: { max_turns: a }\ngroups:\n${step}`)[0]).toContain('expected a number, not a text');
  });

  it('keeps references', () => {
    const text = `groups:\n  - steps:\n      - { name: a, tool: grep, args: {} }\n  - steps:\n      - { tool: read_file, args: { path: { $from: a, pointer: /x } } }\n`;
    expect(parsePlan(text, 'p').file.plan?.groups[1]?.steps[0]?.args).toEqual({ path: { $from: 'a', pointer: '/x' } });
  });
});

describe('names the place of a mistake', () => {
  it.each([
    ['broken YAML', 'groups:\n  - steps: [\n', /^p\.yaml:3:1: /],
    ['a key twice', 'title: a\ntitle: b\ngroups:\n', /^p\.yaml:2:1: .*unique/],
    ['an unknown tag', `title: !secret x\ngroups:\n${step}`, /^p\.yaml:1:8: /],
    ['an unknown key', `titel: x\ngroups:\n${step}`, /^p\.yaml:1:1: titel: titel is not known here$/],
    [
      'an unknown key of a step',
      'groups:\n  - steps:\n      - { tool: bash, arg: {} }\n',
      /^p\.yaml:3:23: groups\.0\.steps\.0\.arg: /,
    ],
    ['a wrong value', `limits:\n  max_turns: 0\ngroups:\n${step}`, /^p\.yaml:2:14: limits\.max_turns: /],
    [
      'a missing value, at what it is missing from',
      'groups:\n  - steps:\n      - args: {}\n',
      /^p\.yaml:3:9: groups\.0\.steps\.0\.tool: /,
    ],
    ['no groups', 'title: x\n', /^p\.yaml:1:1: groups: /],
    ['a list', '- x\n', /^p\.yaml:1:1: a plan is a mapping/],
    ['nothing', '', /^p\.yaml:1:1: a plan is a mapping/],
    [
      'a number that JSON has not',
      'groups:\n  - steps:\n      - { tool: t, args: { n: .inf } }\n',
      /^p\.yaml:3:31: .*args\.n: /,
    ],
    [
      'a reference to a later step',
      'groups:\n  - steps:\n      - { tool: t, args: { p: { $from: b } } }\n  - steps:\n      - { name: b, tool: t }\n',
      /^p\.yaml:3:26: .*\$from names b/,
    ],
    [
      'a name twice',
      'groups:\n  - steps:\n      - { name: a, tool: t }\n      - { name: a, tool: t }\n',
      /^p\.yaml:4:17: .*the name a is taken/,
    ],
  ])('%s', (_, text, expected) => expect(mistakes(text)[0]).toMatch(expected));

  it('all mistakes at once', () => {
    const found = mistakes('titel: x\nlimits: { max_turns: 0 }\ngroups:\n  - steps:\n      - { tool: 7 }\n');
    expect(found.map((line) => line.split(': ')[0])).toEqual(['p.yaml:2:22', 'p.yaml:1:1', 'p.yaml:5:17']);
  });

  it('rejects an alias bomb without expanding it', () => {
    const bomb = [
      'a0: &a0 [x,x,x,x,x,x,x,x,x,x]',
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => `a${n}: &a${n} [${Array(10).fill(`*a${n - 1}`)}]`),
    ];
    expect(mistakes(bomb.join('\n')).join()).toContain('alias');
  });
});
