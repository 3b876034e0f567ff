import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { call } from '../../testing/cli.ts';

const root = mkdtempSync(join(tmpdir(), 'hp-policy-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const file = (text: string): string => {
  writeFileSync(join(root, 'policy.yaml'), text);
  return join(root, 'policy.yaml');
};
const policy = `
rules:
  - { name: tests, match: { command: { argv: [npm, test, "**"] } }, action: allow }
  - { name: docs, match: { paths: ["docs/**"] }, action: allow }
  - { match: { tool: [edit, write_file] }, action: hold, reason: a person reads it first }
`;

test('check accepts a policy and prints its digest', async () => {
  const { code, stdout } = await call(['policy', 'check', file(policy)], {});
  expect(code).toBe(0);
  expect(stdout).toMatch(/with 3 rules, sha256:[0-9a-f]{64}/);
});

test('check names every mistake by its pointer, with the nearest names', async () => {
  const wrong = file('rules:\n  - { match: { tol: edit, tool: edti }, action: alow }\n');
  const { code, stderr } = await call(['policy', 'check', wrong], {});
  expect(code).toBe(2);
  expect(stderr).toContain('/rules/0/match/tol: "tol" is not known here. Nearest: tool');
  expect(stderr).toContain('/rules/0/action: "alow" is none of allow, hold, deny. Nearest: allow');
  const unknown = await call(['policy', 'check', file('rules: [{ match: { tool: edti }, action: hold }]')], {});
  expect(unknown.stderr).toContain('/rules/0/match/tool: there is no tool named "edti". Nearest: edit');
});

test('test says which rule decides, and why the others do not', async () => {
  const { code, stdout } = await call(['policy', 'test', file(policy), '--command', 'npm test && rm src/a.ts'], {});
  expect(code).toBe(0);
  expect(stdout).toContain('HOLD: it deletes outside of build folders');
  expect(stdout).toContain('rule 1 (tests), allow: decides');
  expect(stdout).toContain('built-in rule');
  expect(stdout).toContain('/match/command');
  const edit = JSON.stringify({ tool: 'edit', args: { path: 'docs/../src/a.ts', old_string: 'a', new_string: 'b' } });
  const json = await call(['policy', 'test', file(policy), '--call', edit, '--json'], {});
  expect(JSON.parse(json.stdout)).toMatchObject({
    verdict: { action: 'hold', rule: { policy: 'run', index: 2 }, part: { kind: 'path', detail: 'write src/a.ts' } },
    parts: [{ policies: [{ rules: [{ outcome: 'no_match' }, { outcome: 'no_match' }, { outcome: 'decides' }] }] }],
  });
});

test('test needs one call', async () => {
  expect((await call(['policy', 'test', file(policy)], {})).code).toBe(2);
  expect((await call(['policy', 'test', file(policy), '--call', '{"tool": "nope"}'], {})).stderr).toContain(
    'Nearest: ',
  );
});

test('a call is judged under the settings and modes that it names', async () => {
  const test = async (more: object) => {
    const value = JSON.stringify({ toolset: 'sage', tool: 'Bash', args: { command: 'make' }, ...more });
    return call(['policy', 'test', file('rules: []'), '--call', value, '--json'], {});
  };
  const verdict = async (more: object) => JSON.parse((await test(more)).stdout).verdict;
  expect(await verdict({})).toMatchObject({ action: 'deny', rule: { policy: 'toolset:sage', name: 'bash-allowlist' } });
  const settings = { bash_allowlist: ['make'] };
  expect(await verdict({ settings })).toMatchObject({ action: 'allow' });
  expect(await verdict({ settings, modes: { read_only: true } })).toMatchObject({ rule: { name: 'read-only' } });
  const wrong = await test({ settings: { bash_allowlst: [] } });
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('settings/bash_allowlst')]);
});
