import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@holdpoint/client';
import type { Approval } from '@holdpoint/contract/wire';
import { expect, it } from 'vitest';
import { callInTerminal } from '../../testing/cli.ts';
import { systemForTests } from '../../testing/system.ts';

const { root, env, holdpoint } = systemForTests();

/** Submits a run whose writes are held, and waits for its first approval. */
async function heldRun(files: { path: string; content: string }[], rule: object = {}): Promise<Approval> {
  const plan = {
    policy: { rules: [{ match: { tool: 'write_file' }, action: 'hold', ...rule }] },
    groups: files.map((args) => ({ steps: [{ tool: 'write_file', args }] })),
  };
  const file = join(root, 'plan.json');
  writeFileSync(file, JSON.stringify(plan));
  const { stdout, code } = await holdpoint('run', '--plan', file, '--follow', '--no-wait', '--json');
  expect(code).toBe(5);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const { run_id } = events.find(({ type }) => type === 'approval.requested');
  return first(run_id);
}
async function first(runId: string): Promise<Approval> {
  const { stdout } = await holdpoint('approvals', 'list', '--run', runId, '--json');
  return JSON.parse(stdout).data[0];
}
const a = { path: 'a.txt', content: 'one\n' };
const long = { path: 'long.txt', content: `${'a line\n'.repeat(6000)}the last line \u202e\n` };

it('shows a rule before it is made, lists it and revokes it', async () => {
  const approval = await heldRun([a, a]);
  const digest = ['--digest', approval.action_digest];
  const made = await holdpoint('approvals', 'approve', approval.id, ...digest, '--remember', 'run');
  expect(made).toMatchObject({ code: 0, stdout: `${approval.id} is approved\n` });
  expect(made.stderr).toContain('The same call would need no decision any more, whatever its files are by then:');
  expect(made.stderr).toContain(approval.remembers?.call_digest);
  expect((await holdpoint('watch', approval.run_id, '--exit-status')).code).toBe(0);
  const listed = JSON.parse((await holdpoint('rules', 'list', '--run', approval.run_id, '--json')).stdout);
  const [rule] = listed.data;
  expect(rule).toMatchObject({ scope: 'run', created_by: 'admin', args: { path: 'a.txt' } });
  expect((await holdpoint('rules', 'list')).stdout).toContain(`write_file a.txt`);
  expect((await holdpoint('rules', 'revoke', rule.id)).stdout).toBe(`${rule.id} is revoked\n`);
  expect((await holdpoint('rules', 'list', '--run', approval.run_id)).stderr).toContain('No remembered rules.');
});

it('remembers a rejection: the same call is rejected without a question, and the list says so', async () => {
  const approval = await heldRun([a, a]);
  const digest = ['--digest', approval.action_digest];
  const made = await holdpoint('approvals', 'reject', approval.id, ...digest, '--remember', 'run', '--message', 'no');
  expect(made).toMatchObject({ code: 0, stdout: `${approval.id} is rejected\n` });
  expect(made.stderr).toContain('The same call would be rejected without a question');
  const listed = JSON.parse((await holdpoint('rules', 'list', '--run', approval.run_id, '--json')).stdout);
  expect(listed.data).toMatchObject([{ decision: 'reject', message: 'no', scope: 'run' }]);
  expect((await holdpoint('rules', 'list')).stdout).toMatch(/reject +run_/);
});

it('shows a pattern of approved calls with its replay, and puts exactly that into the policy', async () => {
  const policy = join(root, 'team.yaml');
  writeFileSync(policy, JSON.stringify({ rules: [{ match: { tool: 'write_file' }, action: 'hold' }] }));
  await holdpoint('policy', 'put', 'team', policy);
  const ids: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    const file = join(root, 'pattern.json');
    const step = { tool: 'write_file', args: { path: `notes/${name}.md`, content: name } };
    writeFileSync(file, JSON.stringify({ policy: { name: 'team' }, groups: [{ steps: [step] }] }));
    const { stdout } = await holdpoint('run', '--plan', file, '--follow', '--no-wait', '--json');
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const approval = await first(events.find(({ type }) => type === 'approval.requested').run_id);
    ids.push(approval.id);
    await holdpoint('approvals', 'approve', approval.id, '--digest', approval.action_digest);
  }
  const [, , last = ''] = ids;
  const shown = await holdpoint('approvals', 'pattern', last);
  expect(shown.stdout).toContain('- notes/*');
  expect(shown.stdout).toContain('They would go into team, after version 1.');
  expect(shown.stdout).toMatch(/3 newly allowed, 0 newly held, 0 newly denied/);
  const wrong = await holdpoint('approvals', 'pattern', last, '--digest', 'sha256:0', '--json');
  expect([wrong.code, JSON.parse(wrong.stdout).error.code]).toEqual([8, 'pattern_changed']);
  const digest = /^digest: (.*)$/m.exec(shown.stdout)?.[1] ?? '';
  const put = await holdpoint('approvals', 'pattern', last, '--digest', digest);
  expect(put.stdout).toContain('team has version 2 now');
  expect((await holdpoint('approvals', 'pattern', last)).stdout).toContain('the policy has these rules already');
});

it('prints the whole of a call that is shown in part before it is approved', async () => {
  const approval = await heldRun([long]);
  const digest = ['--digest', approval.action_digest];
  const shown = await holdpoint('approvals', 'show', approval.id);
  expect(shown.stdout).toContain(`approvals content ${approval.id}`);
  expect(shown.stdout).not.toContain('the last line');
  const unread = await holdpoint('approvals', 'approve', approval.id, ...digest, '--json');
  expect([unread.code, JSON.parse(unread.stdout).error.code]).toEqual([8, 'not_opened']);
  const whole = await holdpoint('approvals', 'content', approval.id);
  expect(whole.stdout).toContain('the last line <U+202E>');
  const approved = await holdpoint('approvals', 'approve', approval.id, ...digest);
  expect(approved).toMatchObject({ code: 0, stderr: expect.stringContaining('the last line <U+202E>') });
});

it('shows both versions of an edited call', async () => {
  const approval = await heldRun([a]);
  const args = JSON.stringify({ path: 'b.txt', content: 'one\n' });
  await holdpoint('approvals', 'edit', approval.id, '--args', args, '--digest', approval.action_digest);
  const { stdout } = await holdpoint('approvals', 'show', approval.id);
  expect(stdout).toContain('asked (-) and ran (+):\n  /path\n  - a.txt\n  + b.txt');
});

it('decides many after listing them, and asks before', async () => {
  const [one, two] = [await heldRun([a], { name: 'many' }), await heldRun([a], { name: 'many' })];
  const all = ['approvals', 'decide', '--all', '--rule', 'many', '--decision', 'reject'];
  const unasked = await holdpoint(...all);
  expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining(one.id) });
  const refused = await callInTerminal(all, env, { answer: 'reject these 2?', keys: '\r' });
  expect(refused.screen).toContain('Nothing was decided.');
  const { stdout, code } = await holdpoint(...all, '--yes', '--json');
  expect(code).toBe(0);
  const { data } = JSON.parse(stdout) as { data: { approval_id: string; status: string }[] };
  expect(data.map(({ approval_id }) => approval_id).sort()).toEqual([one.id, two.id].sort());
  expect(data.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

it('says who decides, and lets another caller decide', async () => {
  const approval = await heldRun([a], { deciders: { names: ['admin', 'ann'], quorum: 2, kinds: ['person'] } });
  const { stdout } = await holdpoint('approvals', 'show', approval.id);
  expect(stdout).toMatch(/^who decides +2 of: admin, ann \(person\)$/m);
  const unknown = await holdpoint('approvals', 'delegate', approval.id, '--to', 'bob', '--json');
  expect(JSON.parse(unknown.stdout).error.code).toBe('invalid_request');
  await holdpoint('keys', 'create', 'bob', '--kind', 'person', '--scope', 'approvals:decide');
  const delegated = await holdpoint('approvals', 'delegate', approval.id, '--to', 'bob');
  expect(delegated.stdout).toBe(`bob may decide on ${approval.id}\n`);
  const voted = await holdpoint('approvals', 'approve', approval.id, '--digest', approval.action_digest);
  expect(voted.stdout).toBe(`${approval.id} is pending\n`);
  expect((await holdpoint('approvals', 'show', approval.id)).stdout).toContain('approved so far: 1 of 2, by admin');
  // Its second vote would stay open for the tests behind.
  await holdpoint('runs', 'cancel', approval.run_id);
  await expect.poll(async () => (await holdpoint('approvals', '--json')).stdout).not.toContain(approval.id);
});

it('says at which page a call is released that needs a passkey, and a rejection needs none', async () => {
  const approval = await heldRun([a], { confirm: 'passkey' });
  const { id } = approval;
  const digest = ['--digest', approval.action_digest];
  expect((await holdpoint('approvals', 'show', id)).stdout).toMatch(/^passkey +needed for all but a rejection/m);
  const onPage = (stderr: string) => {
    expect(stderr).toContain(`The rule that holds the call of ${id} asks for a passkey.`);
    expect(stderr).toMatch(new RegExp(`in a browser, at http://localhost:\\d+/approvals/${id}; to log in there: `));
    expect(stderr).toMatch(new RegExp(`open ${id} --url http://localhost:\\d+\\. Nothing was decided\\.`));
  };
  for (const [kind, ...more] of [['approve'], ['edit', '--args', '{"path":"b.txt","content":""}'], ['respond', 'so']]) {
    const refused = await holdpoint('approvals', kind ?? '', id, ...more, ...(kind === 'respond' ? [] : digest));
    expect([kind, refused.code, refused.stdout]).toEqual([kind, 4, '']);
    onPage(refused.stderr);
  }
  const scripted = JSON.parse((await holdpoint('approvals', 'approve', id, ...digest, '--json')).stdout);
  expect(scripted.error).toMatchObject({ code: 'passkey_required', next: expect.stringContaining(`/approvals/${id}`) });
  const all = ['approvals', 'decide', '--all', '--run', approval.run_id, '--decision', 'approve', '--yes', '--json'];
  expect((await holdpoint(...all)).stdout).toContain('passkey_required');
  const { screen } = await callInTerminal(
    ['approvals'],
    env,
    { answer: '1 open', keys: '\r' },
    { answer: 'later', keys: '\r' },
    { answer: '1 open', keys: '\u0003' },
  );
  expect(screen).toContain('no, never');
  expect(screen).not.toContain('yes');
  expect((await first(approval.run_id)).status).toBe('pending');
  expect((await holdpoint('approvals', 'reject', id)).stdout).toBe(`${id} is rejected\n`);
});

it('names who looks at an approval now', async () => {
  const viewed = async (id: string) =>
    (await client.listPresence()).find(({ approval_id }) => approval_id === id)?.viewers ?? [];
  const approval = await heldRun([a]);
  const { link } = JSON.parse((await holdpoint('open', '--json')).stdout);
  const key = readFileSync(join(env.HOLDPOINT_DATA, 'api-key'), 'utf8').trim();
  const client = createClient({ baseUrl: new URL(link).origin, key });
  await client.lookAtApproval(approval.id, crypto.randomUUID());
  await expect.poll(() => client.listPresence()).not.toEqual([]);
  expect((await holdpoint('approvals', 'show', approval.id)).stderr).toContain('Looking at it now: admin\n');
  const [shown, left] = [await heldRun([a]), await heldRun([a])];
  await holdpoint('approvals', 'show', shown.id);
  await holdpoint('approvals', 'show', shown.id, '--json');
  await callInTerminal(['approvals', 'show', left.id], env);
  await expect.poll(() => viewed(left.id)).toMatchObject([{ name: 'admin' }]);
  expect(await viewed(shown.id)).toEqual([]);
  const told = await presenceTold(new URL(link).origin, key);
  const question = { answer: 'approve exactly this?', keys: '\r' };
  const { screen } = await callInTerminal(['approvals', 'approve', shown.id], env, question);
  expect(screen).toContain('Nothing was decided.');
  await expect.poll(told.text).toMatch(new RegExp(`"approval_id":"${shown.id}","viewers":\\[\\{"name":"admin"`));
  await expect.poll(told.text).toContain(`"approval_id":"${shown.id}","viewers":[]`);
  expect(await viewed(shown.id)).toEqual([]);
  told.end();
  await client.close();
});

/** The events of all runs, as the stream brings them. */
async function presenceTold(origin: string, key: string) {
  const gone = new AbortController();
  let text = '';
  const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' };
  const { body } = await fetch(`${origin}/v1/events`, { headers, signal: gone.signal });
  void (async () => {
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece;
  })().catch(() => undefined);
  await expect.poll(() => text).not.toBe('');
  return { text: () => text, end: () => gone.abort() };
}
