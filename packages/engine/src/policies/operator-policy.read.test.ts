import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operatorPolicySchema } from '@holdpoint/contract';
import { afterAll, expect, test, vi } from 'vitest';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { type OperatorPolicyReader, openOperatorPolicy } from './operator-policy.ts';
import { deletePolicy, putPolicy } from './put-policy.ts';
import { operatorDocumentsKey } from './read-policies.ts';

const engine = useTestEngine({ fresh: true });
const root = mkdtempSync(join(tmpdir(), 'hp-operator-'));
const readers: OperatorPolicyReader[] = [];
afterAll(() => {
  for (const reader of readers) reader.stop();
  rmSync(root, { recursive: true });
});
const tools = [{ toolset: 'holdpoint', name: 'edit', effect: 'workspace', risk: 'low' }] as const;
const named = { tenant: 'default', name: 'operator', by: 'ann' };
const hold = (reason: string) => operatorPolicySchema.parse({ rules: [{ match: {}, action: 'hold', reason }] });
const write = (text: string): string => {
  writeFileSync(join(root, 'next'), text);
  renameSync(join(root, 'next'), join(root, 'policy.yaml'));
  return join(root, 'policy.yaml');
};
/** @param everyMs a day: only `refresh` looks */
async function open(file?: string, everyMs = 86_400_000): Promise<OperatorPolicyReader> {
  const reader = await openOperatorPolicy(engine.deps, { file, tools, everyMs });
  readers.push(reader);
  return reader;
}
const reasonOf = (reader: OperatorPolicyReader) => reader.current()?.document.rules[0]?.reason;

test('every process follows the store', async () => {
  const [one, other] = [await open(), await open(undefined, 5)];
  expect(one.current()).toBe(undefined);
  await putPolicy(engine.deps, { ...named, document: hold('first') });
  await vi.waitFor(() => expect(reasonOf(other)).toBe('first'));
  await one.refresh();
  expect(one.status()).toMatchObject({ policy_version: 1, policy_problem: null });
  await putPolicy(engine.deps, { ...named, document: hold('second') });
  await vi.waitFor(() => expect(other.status().policy_version).toBe(2));
  await deletePolicy(engine.deps, named);
  await vi.waitFor(() => expect(other.current()).toBe(undefined));
  expect(await engine.deps.redis.hlen(operatorDocumentsKey)).toBe(2);
});

test('a file counts once two looks have seen the same content', async () => {
  const file = write('rules: [{ match: {}, action: hold, reason: first }]');
  const reader = await open(file);
  expect(reasonOf(reader)).toBe('first');
  write('rules: []');
  await reader.refresh();
  expect(reasonOf(reader)).toBe('first');
  write('rules: [{ match: {}, action: deny, reason: second }]');
  await reader.refresh();
  expect(reasonOf(reader)).toBe('first');
  await reader.refresh();
  expect(reasonOf(reader)).toBe('second');
});

test.for([
  ['no YAML', 'rules: ['],
  ['an unknown tool', 'rules: [{ match: { tool: edti }, action: hold }]'],
  ['a field of runs', 'approval_timeout_s: 5'],
])(
  'a file with %s leaves the policy in force, and its problem is shown until it is corrected',
  async ([, text = '']) => {
    const reader = await open(write('rules: [{ match: {}, action: hold, reason: first }]'));
    const before = reader.status();
    expect(before.policy_problem).toBe(null);
    write(text);
    await reader.refresh();
    await reader.refresh();
    expect(reader.status()).toMatchObject({
      policy: before.policy,
      policy_problem: expect.stringContaining('policy.yaml'),
    });
    expect(reasonOf(reader)).toBe('first');
    await expect(open(join(root, 'policy.yaml'))).rejects.toThrow('HOLDPOINT_POLICY');
    write('rules: [{ match: {}, action: hold, reason: third }]');
    await reader.refresh();
    await reader.refresh();
    expect([reasonOf(reader), reader.status().policy_problem]).toEqual(['third', null]);
  },
);

test('a file that is gone leaves the policy in force', async () => {
  const reader = await open(write('rules: [{ match: {}, action: hold, reason: first }]'));
  rmSync(join(root, 'policy.yaml'));
  await reader.refresh();
  expect(reader.status().policy_problem).toContain('ENOENT');
  expect(reasonOf(reader)).toBe('first');
});
