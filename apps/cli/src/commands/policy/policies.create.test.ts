import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemForTests } from '../../testing/system.ts';

const { root, holdpoint } = systemForTests();
const file = (name: string, text: string): string => {
  writeFileSync(join(root, name), text);
  return join(root, name);
};
const hold = (tool: string) => `rules:\n  - { match: { tool: ${tool} }, action: hold }\n`;
const json = async (...args: string[]) => JSON.parse((await holdpoint(...args, '--json')).stdout);

test('a policy is put, listed, read, tried and deleted', async () => {
  const first = await holdpoint('policy', 'put', 'careful', file('careful.yaml', hold('edit')));
  expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('is stored as careful, version 1, sha256:')]);
  expect((await holdpoint('policy', 'put', 'careful', join(root, 'careful.yaml'))).stdout).toContain('same content');
  const next = file('next.yaml', hold('write_file'));
  expect(await json('policy', 'put', 'careful', next, '--if-version', '1')).toMatchObject({ created: true });
  const late = await holdpoint('policy', 'put', 'careful', next, '--if-version', '1');
  expect([late.code, late.stderr]).toEqual([8, expect.stringContaining('is at version 2, not 1')]);
  expect((await holdpoint('policy', 'list')).stdout).toMatch(/careful +2 +1 +admin/);
  expect((await holdpoint('policy', 'history', 'careful')).stdout.match(/careful/g)).toHaveLength(2);
  expect((await holdpoint('policy', 'get', 'careful', '--version', '1')).stdout).toContain('tool: edit');
  const call = JSON.stringify({ tool: 'write_file', args: { path: 'a', content: 'a' } });
  const tried = await holdpoint('policy', 'test', '--name', 'careful', '--call', call);
  expect([tried.code, tried.stdout]).toEqual([0, expect.stringContaining('rule 1 of the policy careful: hold')]);
  expect((await holdpoint('policy', 'test', '--name', 'careful', '--version', '1', '--call', call)).stdout).toContain(
    'ALLOW',
  );
  expect((await holdpoint('policy', 'delete', 'careful')).code).toBe(0);
  const gone = await holdpoint('policy', 'get', 'careful');
  expect([gone.code, gone.stderr]).toEqual([7, expect.stringContaining('no policy')]);
});

test('a run takes a file or a name, past calls are judged again, and rules are proposed', async () => {
  await holdpoint('policy', 'put', 'writes', file('writes.yaml', hold('write_file')));
  const plan = (path: string) =>
    file('plan.yaml', `groups:\n  - steps:\n      - { tool: write_file, args: { path: ${path}, content: a } }\n`);
  for (const [path, policy] of [
    ['docs/a.md', 'writes'],
    ['docs/b.md', 'writes@1'],
    ['docs/c.md', join(root, 'writes.yaml')],
  ] as const) {
    const run = await holdpoint('run', '--plan', plan(path), '--policy', policy, '--follow', '--no-wait');
    expect(run.code).toBe(5);
    const { data } = await json('approvals', 'list');
    expect((await holdpoint('approvals', 'approve', data[0].id, '--digest', data[0].action_digest)).code).toBe(0);
  }
  const replay = await holdpoint('policy', 'replay', '--since', '1d', '--policy', file('none.yaml', 'rules: []'));
  expect(replay.stdout).toContain('3 calls of 3 runs: 0 unchanged, 3 newly allowed, 0 newly held, 0 newly denied');
  expect(replay.stdout).toContain('was: hold, approve by admin');
  expect(await json('policy', 'replay', '--since', '1d', '--policy', 'writes', '--name', 'writes')).toMatchObject({
    ...{ runs: 2, calls: 2, unchanged: 2, newly_allowed: [], newly_held: [], newly_denied: [] },
  });
  const proposed = await holdpoint('policy', 'propose', '--since', '1d');
  expect(proposed.stdout).toContain('approved 3 times, never refused');
  const written = file('mine.yaml', `# mine\nrules:\n  - { match: { tool: write_file }, action: hold } # last\n`);
  expect((await holdpoint('policy', 'propose', '--since', '1d', '--write', written)).code).toBe(0);
  const text = readFileSync(written, 'utf8');
  expect(text).toMatch(/^# mine\nrules:\n {2}# approved 3 times.*\n {2}- match:[\s\S]*docs\/\*[\s\S]*# last\n$/);
  expect((await holdpoint('policy', 'check', written)).code).toBe(0);
  expect((await json('policy', 'replay', '--since', '1d', '--policy', written)).counts).toEqual({
    allow: 3,
    hold: 0,
    deny: 0,
  });
  const again = await holdpoint('policy', 'propose', '--since', '1d', '--write', written);
  expect([again.code, readFileSync(written, 'utf8')]).toEqual([2, text]);
});

test("the operator's policy binds without a restart, and doctor shows it", async () => {
  await holdpoint('policy', 'put', 'operator', file('operator.yaml', 'publish: hold\n'));
  const { findings } = await json('doctor');
  expect(findings.find(({ name }: { name: string }) => name === 'bounds').text).toContain('(version');
  const wrong = await holdpoint('policy', 'put', 'operator', file('operator.yaml', 'approval_timeout_s: 5\n'));
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('/approval_timeout_s')]);
});

test.each(['30 days', '30', 'soon', '12x'])('%s is no time', async (since) => {
  const { code, stderr } = await holdpoint('policy', 'replay', '--since', since, '--policy', 'writes');
  expect([code, stderr]).toEqual([2, expect.stringContaining('is no time')]);
});
