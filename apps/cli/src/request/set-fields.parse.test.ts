import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRunSchema } from '@holdpoint/contract/wire';
import { afterAll, describe, expect, it, test } from 'vitest';
import { Document, isSeq } from 'yaml';
import type { z } from 'zod';
import { fieldAt, listFields } from './fields.ts';
import { setFields, setting } from './set-fields.ts';

const cwd = mkdtempSync(join(tmpdir(), 'hp-settings-'));
writeFileSync(join(cwd, 'settings.json'), '{"a": 1, "b": [2]}');
writeFileSync(join(cwd, 'rules.md'), '# Rules\n');
writeFileSync(join(cwd, 'list.yaml'), '- x\n- y\n');
afterAll(() => rmSync(cwd, { recursive: true }));

const set = (fields: readonly string[], request: object = {}): Promise<object> =>
  setFields(
    request,
    fields.flatMap((text) => setting(text)),
    cwd,
  );

test.for<[string, string[], object]>([
  ['a number', ['limits.max_turns=5'], { limits: { max_turns: 5 } }],
  ['a text', ['title=a=b'], { title: 'a=b' }],
  ['a text of digits where the field takes a text', ['title=2024'], { title: '2024' }],
  ['a text in JSON', ['title="2024"'], { title: '2024' }],
  ['true', ['modes.read_only=true'], { modes: { read_only: true } }],
  ['JSON', ['limits={"max_turns": 5}'], { limits: { max_turns: 5 } }],
  ['one of several types', ['workspace.source.history=5'], { workspace: { source: { history: 5 } } }],
  ['another of them', ['workspace.source.history=full'], { workspace: { source: { history: 'full' } } }],
  ['items', ['network.allow+=a.org', 'network.allow+=b.org:8443'], { network: { allow: ['a.org', 'b.org:8443'] } }],
  ['a whole list', ['network.allow=["a.org"]'], { network: { allow: ['a.org'] } }],
  ['a field of an item', ['validators.0.command=npm test'], { validators: [{ command: 'npm test' }] }],
  [
    'any JSON',
    ['settings.n=3', 'settings.text=a=b', 'settings.list=["x"]'],
    { settings: { n: 3, text: 'a=b', list: ['x'] } },
  ],
  ['a name with a dot', ['labels.a\\.b=1'], { labels: { 'a.b': '1' } }],
  ['a name with =', ['labels.a\\=b=1'], { labels: { 'a=b': '1' } }],
  ['the last of two values', ['title=a', 'title=b'], { title: 'b' }],
  ['nothing', ['title='], { title: '' }],
  ['a text of a file', ['system=@rules.md'], { system: '# Rules\n' }],
  ['JSON of a file', ['settings=@settings.json'], { settings: { a: 1, b: [2] } }],
  ['YAML of a file', ['network.allow=@list.yaml'], { network: { allow: ['x', 'y'] } }],
  ['a text with @', ['title="@home"'], { title: '@home' }],
])('%s', async ([, fields, expected]) => expect(await set(fields)).toEqual(expected));

it('keeps the request, and the fields beside', async () => {
  const request = { title: 'a', limits: { max_steps: 3 }, validators: [{ command: 'x' }, { command: 'y' }] };
  const before = structuredClone(request);
  const changed = await set(['limits.max_turns=5', 'validators.1.command=z', 'validators+={"command": "n"}'], request);
  expect(request).toEqual(before);
  expect(changed).toEqual({
    title: 'a',
    limits: { max_steps: 3, max_turns: 5 },
    validators: [{ command: 'x' }, { command: 'z' }, { command: 'n' }],
  });
});

test.for([
  ['limits.max_turn=5', 'a run has no such field. Nearest: limits.max_turns'],
  ['max_turns=5', 'Nearest: limits.max_turns'],
  ['effort=high', 'Nearest: options.reasoning_effort'],
  ['validators.0.comand=x', 'Nearest: validators.0.command'],
  ['title.x=1', 'a run has no such field'],
  ['+=x', 'a run has no such field'],
  ['title+=1', 'only a list takes +='],
  ['limits+=1', 'only a list takes +='],
  ['network.allow.1=x', '1 is no place in a list of 0'],
  ['network.allow.x=1', 'a run has no such field'],
  ['__proto__.polluted=1', 'no field can have the name __proto__'],
  ['labels.__proto__=1', 'no field can have the name __proto__'],
  ['settings.constructor.prototype.polluted=1', 'no field can have the name constructor'],
  ['settings.prototype=1', 'no field can have the name prototype'],
  ['labels.\\__proto__=1', 'no field can have the name __proto__'],
  ['settings={"a": {"__proto__": {"polluted": 1}}}', 'no field can have the name __proto__'],
  ['system=@missing.md', 'There is no file missing.md'],
] as const)('refuses %s', async ([field, message]) => {
  await expect(set([field])).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining(message) });
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

test.each(['title', '=3', '.title=3', 'limits.=3', 'limits..max_turns=3', 'limits\\'])(
  'refuses the form of %s',
  (text) => expect(() => setting(text)).toThrow(/path=value/),
);

it('a setting of the toolset, once --set name=value, is named', async () => {
  await expect(set(['depth=3'])).rejects.toMatchObject({ next: expect.stringContaining('--set settings.depth=3') });
});

/** A path to each key, an item 0 for a list, and a name for a record. Walks the schema of zod, not its JSON Schema. */
function pathsOf(schema: z.core.$ZodType, path: string[] = [], depth = 0): string[][] {
  const { def } = schema._zod as unknown as { def: Record<string, unknown> & { type: string } };
  const into = (inner: unknown, ...keys: string[]) => pathsOf(inner as z.core.$ZodType, [...path, ...keys], depth + 1);
  if (depth > 30) return [path];
  switch (def.type) {
    case 'object':
      return [path, ...Object.entries((schema as z.ZodObject).shape).flatMap(([key, inner]) => into(inner, key))];
    case 'array':
      return [path, ...into(def.element, '0')];
    case 'record':
      return [path, ...into(def.valueType, 'some')];
    case 'union':
      return (def.options as unknown[]).flatMap((option) => into(option));
    case 'pipe':
      return into(def.in);
    case 'optional':
    case 'default':
    case 'prefault':
    case 'nullable':
    case 'nonoptional':
    case 'readonly':
      return into(def.innerType);
    default:
      return [path];
  }
}

describe('the fields of the request', () => {
  const all = [...new Set(pathsOf(createRunSchema).map((path) => path.join('.')))].filter((path) => path !== '');

  it('are all in reach of --set', async () => {
    expect(all.length).toBeGreaterThan(150);
    for (const path of all) {
      expect(fieldAt(path.split('.')).length, path).toBeGreaterThan(0);
      const at = path
        .split('.')
        .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], await set([`${path}=1`]));
      expect([path, String(at)]).toEqual([path, '1']);
    }
  });

  it('are listed for completion, up to lists and names of the caller', () => {
    const listed = listFields().map(({ path }) => path);
    const inLists = /\.(0|some)(\.|$)/;
    const leaves = all.filter(
      (path) => !inLists.test(path) && !all.some((other) => other.startsWith(`${path}.`) && !inLists.test(other)),
    );
    expect(listed.toSorted()).toEqual(leaves.toSorted());
  });
});

/** The same with the library of YAML documents. Undefined: it refuses to go into a scalar, or a list would get a gap. */
function setInDocument(request: object, path: readonly string[], value: unknown): object | undefined {
  const document = new Document(request);
  const keys = path.map((key) => (/^\d+$/.test(key) ? Number(key) : key));
  for (const [at, key] of keys.entries()) {
    const list = document.getIn(keys.slice(0, at));
    if (typeof key === 'number' && key > (isSeq(list) ? list.items.length : 0)) return undefined;
    if (typeof key === 'number' && list !== undefined && !isSeq(list)) return undefined;
  }
  try {
    document.setIn(keys, document.createNode(value));
    return document.toJS();
  } catch {
    return undefined;
  }
}

/** Fields for a text, and fields for any JSON. */
const forTexts = [
  'title',
  'labels.a',
  'labels.b-c',
  'validators.0.command',
  'network.allow.0',
  'network.allow.1',
  'agents.0.name',
];
const forAll = [
  'settings.a',
  'settings.a.b.0.c',
  'plan.groups.0.steps.0.args.x',
  'plan.groups.0.steps.0.args.y.1',
  'output_schema.b',
];
const lists = ['network.allow', 'settings.a'];
const values = [
  0,
  1.5,
  true,
  null,
  'x',
  'a=b',
  '',
  ' 7',
  '{',
  [],
  ['x'],
  [1, 2],
  {},
  { command: 'x' },
  { a: { b: 2 } },
  'é\n',
  '"q"',
];

it('random settings give the same request as the library of YAML documents', async () => {
  const random = randomFrom(Number(process.env.SEED ?? 20_261_128));
  const pick = <Value>(from: readonly Value[]): Value => from[random(from.length)] as Value;
  let compared = 0;
  for (let round = 0; round < 500; round++) {
    let expected: object = {};
    const fields: string[] = [];
    for (let length = 1 + random(10); length > 0; length--) {
      const isText = random(2) === 0;
      const path = pick(isText ? forTexts : forAll);
      const value = pick(values);
      const asText = typeof value === 'string' ? value : JSON.stringify(value);
      const list = pick(lists);
      const items = list
        .split('.')
        .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], expected);
      const isAppended =
        random(4) === 0 && (items === undefined || Array.isArray(items)) && (list === 'network.allow') === isText;
      const at = isAppended ? `${list}.${Array.isArray(items) ? items.length : 0}` : path;
      const next = setInDocument(expected, at.split('.'), isText ? asText : value);
      if (next === undefined) continue;
      expected = next;
      fields.push(
        `${isAppended ? `${list}+` : path}=${isText && random(2) === 0 && asText !== '"q"' ? asText : JSON.stringify(isText ? asText : value)}`,
      );
    }
    expect([fields, await set(fields)]).toEqual([fields, expected]);
    compared += fields.length;
  }
  expect(compared).toBeGreaterThan(1500);
});

function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
