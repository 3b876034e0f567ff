import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, callInTerminal, main, start, typeInto } from '../testing/cli.ts';
import { systemForTests } from '../testing/system.ts';

const { root, env, holdpoint } = systemForTests();
const source = join(root, 'source');
const file = (name: string, text: string): string => {
  writeFileSync(join(root, name), text);
  return join(root, name);
};
const held = `
policy: { rules: [{ match: { tool: write_file }, action: hold }] }
groups:
  - steps:
      - { name: write, tool: write_file, args: { path: a.txt, content: "one\\n" } }
`;

async function waitingRun(): Promise<{ runId: string; approvalId: string; digest: string }> {
  const followed = await holdpoint('run', '--plan', file('held.yaml', held), '--follow', '--no-wait', '--json');
  expect(followed.code).toBe(5);
  const events = followed.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  const requested = events.find(({ type }) => type === 'approval.requested');
  const runId: string = requested.run_id;
  const approvalId: string = requested.data.approval_id;
  const { stdout } = await holdpoint('approvals', 'show', approvalId, '--json');
  return { runId, approvalId, digest: JSON.parse(stdout).action_digest };
}

describe('a held step', () => {
  it('runs after an approval with the digest that was shown', async () => {
    const { runId, approvalId, digest } = await waitingRun();
    const stale = await holdpoint('approvals', 'approve', approvalId, '--digest', `${digest.slice(0, -1)}x`, '--json');
    expect(stale.code).toBe(8);
    expect(JSON.parse(stale.stdout).error.code).toBe('action_changed');
    expect((await holdpoint('approvals', '--json')).stdout).toContain(approvalId);

    const unread = await holdpoint('approvals', 'approve', approvalId);
    expect(unread).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--digest') });
    const { stderr } = await holdpoint('approvals', 'show', approvalId);
    expect(stderr).toContain(`approvals approve ${approvalId} --digest ${digest}`);
    const approved = await holdpoint('approvals', 'approve', approvalId, '--digest', digest);
    expect(approved).toMatchObject({ code: 0, stdout: `${approvalId} is approved\n` });
    expect(approved.stderr).toContain('a.txt');
    const watched = await holdpoint('watch', runId, '--exit-status', '--timeout', '60');
    expect(watched.code).toBe(0);
    expect(watched.stdout).toMatch(/step\.succeeded +write: write_file a\.txt \(/);
    expect(watched.stdout).not.toContain('\u001b');

    const diff = await holdpoint('runs', 'diff', runId);
    expect(diff.stdout).toContain('\n+one\n');
    // An empty source is no target of a publish.
    expect((await holdpoint('runs', 'publish', runId)).code).toBe(8);
    expect((await holdpoint('runs', 'discard', runId)).stdout).toContain('discard');
  });

  it('runs after a confirmation on a terminal', async () => {
    const { runId, approvalId } = await waitingRun();
    const onTerminal = (keys: string) =>
      callInTerminal(['approvals', 'approve', approvalId], env, { answer: 'approve exactly this?', keys });
    const left = await onTerminal('\r');
    expect(left).toMatchObject({ code: 0, screen: expect.stringContaining('Nothing was decided.') });
    expect((await holdpoint('approvals', '--json')).stdout).toContain(approvalId);
    const approved = await onTerminal('y');
    expect(approved).toMatchObject({ code: 0, screen: expect.stringContaining(`${approvalId} is approved`) });
    expect(approved.screen.indexOf('a.txt')).toBeLessThan(approved.screen.indexOf('exactly this?'));
    expect((await holdpoint('watch', runId, '--exit-status', '--timeout', '60')).code).toBe(0);
  });

  it('fails the run of a plan when it is rejected', async () => {
    const { runId, approvalId } = await waitingRun();
    expect((await holdpoint('approvals', 'reject', approvalId, '--message', 'not today')).code).toBe(0);
    expect((await holdpoint('approvals', 'approve', approvalId)).code).toBe(8);
    const watched = await holdpoint('watch', runId, '--exit-status', '--timeout', '60');
    expect(watched.code).toBe(1);
    expect(watched.stdout).toContain('not today');
  });

  it('runs with other arguments after an edit', async () => {
    const { runId, approvalId, digest } = await waitingRun();
    const edit = (text: string) => holdpoint('approvals', 'edit', approvalId, '--args', text, '--digest', digest);
    expect((await edit('{"path": 1}')).code).toBe(2);
    const args = JSON.stringify({ path: 'b.txt', content: 'two\n' });
    expect((await edit(args)).code).toBe(0);
    expect((await holdpoint('watch', runId, '--exit-status', '--timeout', '60')).code).toBe(0);
    expect((await holdpoint('runs', 'diff', runId, '--stat')).stdout).toMatch(/added +b\.txt/);
  });

  it('ends with its run when that is canceled', async () => {
    const { runId } = await waitingRun();
    expect((await holdpoint('watch', runId, '--timeout', '0.5')).code).toBe(6);
    expect((await holdpoint('runs', 'cancel', runId)).code).toBe(0);
    expect((await holdpoint('watch', runId, '--exit-status', '--timeout', '60')).code).toBe(3);
  });
});

describe('following', () => {
  it('ends at Ctrl-C while the run continues', async () => {
    const { runId, approvalId, digest } = await waitingRun();
    const following = start(['watch', runId], env);
    await following.firstLine;
    following.child.kill('SIGINT');
    const ended = await following.ended;
    expect(ended.code).toBe(130);
    expect(ended.stderr).toContain(`watch ${runId}`);
    await holdpoint('approvals', 'approve', approvalId, '--digest', digest);
    expect((await holdpoint('watch', runId, '--exit-status', '--timeout', '60')).code).toBe(0);
  });
});

describe('a request that fails', () => {
  it('names the place of a mistake in a plan', async () => {
    const before = (await holdpoint('runs', 'list', '--json')).stdout;
    const broken = await holdpoint('run', '--plan', file('broken.yaml', 'groups:\n  - steps: 7\n'));
    expect(broken).toMatchObject({ code: 2, stderr: expect.stringContaining('broken.yaml:2:12: ') });
    // Only the server knows the tools.
    const text = 'groups:\n  - steps:\n      - { tool: nope }\n      - { tool: bash, args: { comand: ls } }\n';
    const unknown = await holdpoint('run', '--plan', file('unknown.yaml', text));
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toMatch(/unknown\.yaml:3:17: .*nope/);
    expect(unknown.stderr).toMatch(/unknown\.yaml:4:\d+: .*args\.comand: /);
    expect((await holdpoint('runs', 'list', '--json')).stdout).toBe(before);
  });

  it.each([
    [['runs', 'show', 'run_nope'], 7],
    [['approvals', 'show', 'apr_nope'], 7],
    [['run', 'a prompt', '--plan', 'x'], 2],
    [['run', '--source', source], 2],
    [['run', 'prompt', '--source', '/does/not/exist'], 2],
    [['run', '--follow', '--detach', 'x'], 2],
    [['nope'], 2],
    [['runs', 'list', '--limit', 'x'], 2],
    [['tools', 'list', '--toolset', 'nope', '--format', 'openai'], 7],
    [['runs', 'list', '--url', 'http://127.0.0.1:1'], 1],
  ] as const)('%j ends with %d', async (args, code) => {
    const ended = await holdpoint(...args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).not.toBe('');
    expect(ended.stdout).toBe('');
  });

  it('exits 4 for a wrong key and for another machine', async () => {
    expect((await call(['runs', 'list'], { ...env, HOLDPOINT_KEY: 'hp_wrong' })).code).toBe(4);
    expect((await holdpoint('runs', 'list', '--url', 'http://192.0.2.1:4747')).code).toBe(4);
  });
});

it('completes the ids of runs and approvals', async () => {
  const { runId, approvalId } = await waitingRun();
  expect((await holdpoint('__complete', '--', 'runs', 'show', 'run_')).stdout).toMatch(
    new RegExp(`^${runId}\\twaiting: `, 'm'),
  );
  const approvals = await holdpoint('__complete', '--', 'approvals', 'approve', approvalId.slice(0, -2));
  expect(approvals.stdout).toMatch(new RegExp(`^${approvalId}\\twrite_file: `, 'm'));
  expect((await holdpoint('__complete', '--', 'approvals', 'list', '--run', runId)).stdout).toContain(runId);
  await holdpoint('runs', 'cancel', runId);
});

it('takes a few characters of an id, and @last', async () => {
  const { runId, approvalId } = await waitingRun();
  const idOf = async (...args: string[]) => JSON.parse((await holdpoint(...args, '--json')).stdout).id;
  for (const short of [runId.slice(-6), runId.slice(-12, -4), '@last']) {
    expect(await idOf('runs', 'show', short)).toBe(runId);
  }
  expect(await idOf('approvals', 'show', approvalId.slice(-5))).toBe(approvalId);
  const { stdout } = await holdpoint('approvals', 'list', '--run', runId.slice(-6), '--json');
  expect(JSON.parse(stdout).data).toHaveLength(1);
  // All ids of one second begin alike.
  const many = await holdpoint('runs', 'get', `run_${runId.slice(4, 8)}`);
  expect(many).toMatchObject({ code: 2, stderr: expect.stringContaining(`  ${runId}  waiting: `) });
  const none = await holdpoint('runs', 'get', '@last~9999');
  expect(none).toMatchObject({ code: 7, stderr: expect.stringContaining('runs list') });
  expect((await holdpoint('runs', 'get', 'ffffff')).code).toBe(7);
  const other = await holdpoint('watch', approvalId);
  expect(other).toMatchObject({ code: 7, stderr: expect.stringContaining('another kind (approval)') });
  expect(other.stderr).toContain('runs list');
  expect((await holdpoint('__complete', '--', 'watch', runId.slice(-8))).stdout).toContain(runId);
  await holdpoint('runs', 'cancel', runId);
});

it('asks before a run is canceled, on a terminal', async () => {
  const { runId } = await waitingRun();
  const onTerminal = (keys: string) => callInTerminal(['runs', 'cancel', '@last'], env, { answer: 'Cancel', keys });
  expect((await onTerminal('\r')).screen).toContain('Nothing was done.');
  expect((await onTerminal('\u0003')).code).toBe(130);
  expect((await holdpoint('runs', 'get', runId)).stdout).toContain('waiting');
  expect((await onTerminal('y')).screen).toMatch(/is cancel/);
});

it('ends at a paused run with the reason, and what to do', async () => {
  const { runId } = await waitingRun();
  await holdpoint('runs', 'pause', runId);
  const watched = await holdpoint('watch', runId);
  expect(watched.code).toBe(5);
  expect(watched.stderr).toContain(`runs resume ${runId}`);
  expect((await holdpoint('watch', runId, '--wait', '--timeout', '0.5')).code).toBe(6);
  await holdpoint('runs', 'cancel', runId);
});

it('shows the trace of a run, from its log alone', async () => {
  const plan = file('two.yaml', 'groups:\n  - steps:\n      - { tool: bash, args: { command: "exit 3" } }\n');
  const { runId } = JSON.parse(
    (await holdpoint('run', '--plan', plan, '--detach', '--json')).stdout.replace('"id"', '"runId"'),
  );
  await holdpoint('watch', runId);
  const { stdout, code } = await holdpoint('trace', runId);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^total +\d/m);
  expect(stdout).toMatch(/^[* ] {5}turn 1 +[░█]/m);
  expect(stdout).toMatch(/^[* ] {7}execute_tool bash +[░█]/m);
  expect(stdout).not.toContain('\u001b');
  const json = JSON.parse((await holdpoint('trace', runId, '--json')).stdout);
  const spent: number[] = Object.values(json.spent_ms);
  expect(spent.reduce((sum, part) => sum + part, 0)).toBe(json.total_ms);
  expect(json.critical_path.length).toBeGreaterThan(2);
  const attempt = json.spans.find(({ kind }: { kind: string }) => kind === 'attempt');
  expect(attempt.attributes).toMatchObject({ 'process.exit.code': 3, 'holdpoint.isolation.driver': 'bubblewrap' });
  expect(attempt.attributes['holdpoint.command.cpu_ms']).toBeGreaterThanOrEqual(0);
  expect((await holdpoint('trace', 'run_nope')).code).toBe(7);
});

it('shows what runs now', async () => {
  const plan = file('long.yaml', 'groups:\n  - steps:\n      - { tool: bash, args: { command: "sleep 60" } }\n');
  const run = JSON.parse((await holdpoint('run', '--plan', plan, '--detach', '--json')).stdout);
  const mine = async () => {
    const { running } = JSON.parse((await holdpoint('top', '--json')).stdout);
    return running.find(({ run_id, kind }: { run_id: string; kind: string }) => run_id === run.id && kind === 'step');
  };
  await expect.poll(mine, { timeout: 30_000, interval: 250 }).toMatchObject({ what: 'bash', attempt: 1 });
  const { stdout } = await holdpoint('top');
  expect(stdout).toMatch(/^runs: 1 running/);
  expect(stdout).toMatch(new RegExp(`${run.id} +1 groups? of tool calls +\\d+ s +bash +\\d+ s +1$`, 'm'));
  await holdpoint('runs', 'cancel', run.id);
});

it('looks again and again on a terminal, until Ctrl-C', async () => {
  const steps = [
    { answer: 'queues:', keys: '' },
    { answer: 'queues:', keys: '\u0003' },
  ];
  const { code, screen } = await typeInto([process.execPath, main, 'top', '--interval', '0.2'], env, steps);
  expect(code).toBe(0);
  expect(screen.split('\u001b[H').length).toBeGreaterThan(2);
  expect(screen).toMatch(/HOST +WORKER +STEPS/);
});

it('doctor finds no fault', async () => {
  const { stdout, code } = await holdpoint('doctor', '--json');
  const { findings } = JSON.parse(stdout);
  const level = (name: string) => findings.find((finding: { name: string }) => finding.name === name)?.level;
  expect(
    ['redis', 'redis durability', 'redis memory', 'API key', 'data directory', 'sandbox', 'api'].map(level),
  ).toEqual(Array(7).fill('ok'));
  expect(code).toBe(0);
});
