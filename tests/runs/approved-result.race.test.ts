import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Approval } from '@holdpoint/contract/wire';
import { beforeAll, expect, test } from 'vitest';
import { type AppProcess, bash, finished, nextApproval, plan, until, useSystem } from '../harness/index.ts';

const system = useSystem({ workers: 0 });
let worker: AppProcess;
beforeAll(async () => {
  worker = await system.startWorker();
});

const policy = { rules: [{ match: { tool: 'bash' }, action: 'hold' as const, preview: 'run' as const }] };
const submit = (...groups: Parameters<typeof plan>) => system.client.createRun({ plan: plan(...groups), policy });
const decide = (approval: Approval, decision: 'approve' | 'reject' = 'approve') =>
  system.client.decideApproval(approval.id, { decision, action_digest: approval.action_digest });

/** Says a new number with each execution: it comes from outside of the files. */
const once = 'cat /proc/sys/kernel/random/uuid | tee id.txt; echo made > new.txt';
const forks = (): string[] => readdirSync(join(system.dataDir, 'runs'));
const previews = (runId: string): string[] => {
  const path = join(system.folder(runId), 'shadow.git/refs/previews');
  return existsSync(path) ? readdirSync(path) : [];
};
type Shown = {
  kind: string;
  status: string;
  value: { stdout: string; exit_code: number };
  patch: string;
  snapshot: string;
};

test('the approval shows the real output and the real diff, and approving applies exactly that', async () => {
  const { run } = await submit([bash(once)]);
  const approval = await nextApproval(system.client, run.id);
  const shown = approval.preview as Shown;
  expect(shown).toMatchObject({ kind: 'result', status: 'succeeded', value: { exit_code: 0 } });
  expect(shown.patch).toContain('+made');
  // Nothing of it is in the workspace, and the fork is gone.
  expect(existsSync(join(system.tree(run.id), 'new.txt'))).toBe(false);
  expect(forks()).toEqual([run.id]);
  expect(previews(run.id)).toEqual([shown.snapshot]);
  await decide(approval);
  const ended = await finished(system.client, run.id);
  expect(readFileSync(join(system.tree(run.id), 'id.txt'), 'utf8')).toBe(shown.value.stdout);
  expect(ended.workspace.snapshot).toBe(shown.snapshot);
  const [step] = (await system.client.listSteps(run.id)).data;
  expect((await system.client.getStep(step?.id ?? '')).result).toMatchObject({ stdout: shown.value.stdout });
  expect(previews(run.id)).toEqual([]);
});

test('a failure is shown, too, and is the outcome once it is approved', async () => {
  const { run } = await submit([bash('echo before; exit 3')]);
  const approval = await nextApproval(system.client, run.id);
  expect(approval.preview).toMatchObject({ status: 'failed', value: { exit_code: 3, stdout: 'before\n' } });
  await decide(approval);
  await finished(system.client, run.id);
  expect((await system.client.listSteps(run.id)).data[0]).toMatchObject({ status: 'failed', error: { code: 'EEXIT' } });
});

test('rejecting throws the result away', async () => {
  const { run } = await submit([bash(once)]);
  const approval = await nextApproval(system.client, run.id);
  await decide(approval, 'reject');
  await finished(system.client, run.id);
  expect(existsSync(join(system.tree(run.id), 'new.txt'))).toBe(false);
  await until('the preview is gone', () => previews(run.id).length === 0);
});

test('an edited call runs normally', async () => {
  const { run } = await submit([bash(once)]);
  const approval = await nextApproval(system.client, run.id);
  const { action_digest } = approval;
  await system.client.decideApproval(approval.id, {
    decision: 'edit',
    action_digest,
    args: { command: 'echo edited' },
  });
  await finished(system.client, run.id);
  const [step] = (await system.client.listSteps(run.id)).data;
  expect((await system.client.getStep(step?.id ?? '')).result).toMatchObject({ stdout: 'edited\n' });
  expect(existsSync(join(system.tree(run.id), 'new.txt'))).toBe(false);
  await until('the preview is gone', () => previews(run.id).length === 0);
});

test('a call that builds on an approved result sees it', async () => {
  const { run } = await submit([bash('echo 1 > n')], [bash('echo $(( $(cat n) + 1 )) > n')]);
  await decide(await nextApproval(system.client, run.id));
  const second = await nextApproval(system.client, run.id);
  expect((second.preview as Shown).patch).toContain('+2');
  await decide(second);
  await finished(system.client, run.id);
  expect(readFileSync(join(system.tree(run.id), 'n'), 'utf8')).toBe('2\n');
});

test('a result that would change a protected path is shown as a refusal', async () => {
  const protectedPaths = ['kept'];
  const { run } = await system.client.createRun({
    ...{ plan: plan([bash("python3 -c \"open('kept', 'w')\"")]), policy, protected: protectedPaths },
  });
  const approval = await nextApproval(system.client, run.id);
  expect(approval.preview).toMatchObject({ kind: 'problem', message: expect.stringContaining('kept') });
  await decide(approval);
  await finished(system.client, run.id);
  expect((await system.client.listSteps(run.id)).data[0]).toMatchObject({ error: { code: 'EPERMISSION' } });
});

test('when the workspace moved it asks again with a new result', async () => {
  const waits = 'until [ -e go ]; do sleep 0.02; done; echo moved > base; rm go; sleep 1000';
  const background = { tool: 'bash', args: { command: waits, run_in_background: true } };
  const { run } = await submit([background], [bash('cat base 2>/dev/null; date +%N > new')]);
  await decide(await nextApproval(system.client, run.id));
  await until('the command runs', async () => (await system.client.listTasks(run.id))[0]?.status === 'running');
  const first = await nextApproval(system.client, run.id);
  const { writeFileSync } = await import('node:fs');
  writeFileSync(join(system.tree(run.id), 'go'), '');
  await until(
    'the files changed',
    () => existsSync(join(system.tree(run.id), 'base')) && !existsSync(join(system.tree(run.id), 'go')),
  );
  await decide(first);
  await until('it asks again', async () => (await system.client.getApproval(first.id)).superseded_by !== null);
  const second = await nextApproval(system.client, run.id);
  expect(second.changed?.approval_id).toBe(first.id);
  expect((second.preview as Shown).value.stdout).toBe('moved\n');
  expect(previews(run.id)).toEqual([(second.preview as Shown).snapshot]);
  await decide(second);
  await until('it is applied', () => existsSync(join(system.tree(run.id), 'new')));
  await finished(system.client, run.id);
});

test('a worker killed while making the result loses nothing: another worker makes the result', async () => {
  const { run } = await submit([bash('echo x >> ran.txt; sleep 3; echo done')]);
  await until('the fork exists', () =>
    forks().some((id) => id !== run.id && existsSync(join(system.tree(id), 'ran.txt'))),
  );
  await worker.signal('SIGKILL');
  worker = await system.startWorker();
  const approval = await nextApproval(system.client, run.id);
  expect(approval.preview).toMatchObject({ kind: 'result', value: { stdout: 'done\n' } });
  // A new worker, which a crash meets again, finds the approval.
  await worker.signal('SIGKILL');
  await decide(approval);
  worker = await system.startWorker();
  await finished(system.client, run.id);
  expect(readFileSync(join(system.tree(run.id), 'ran.txt'), 'utf8')).toBe('x\n');
});

test('a person asks to see the result of a held call; a worker killed while the call runs for show loses nothing', async () => {
  const rules = [{ match: { tool: 'bash' }, action: 'hold' as const }];
  const command = `cat /proc/sys/kernel/random/uuid | tee id.txt; echo x >> ran.txt; sleep 3`;
  const { run } = await system.client.createRun({ plan: plan([bash(command)]), policy: { rules } });
  const held = await nextApproval(system.client, run.id);
  expect(held.preview).not.toMatchObject({ kind: 'result' });
  const asked = system.client.previewApproval(held.id);
  await until('the fork exists', () =>
    forks().some((id) => id !== run.id && existsSync(join(system.tree(id), 'ran.txt'))),
  );
  await worker.signal('SIGKILL');
  worker = await system.startWorker();
  await asked;
  await until('the result is there', async () => (await system.client.previewApproval(held.id)).id !== held.id);
  const result = await nextApproval(system.client, run.id);
  const shown = result.preview as Shown;
  expect([result.replaces, shown.kind, previews(run.id)]).toEqual([held.id, 'result', [shown.snapshot]]);
  expect(existsSync(join(system.tree(run.id), 'ran.txt'))).toBe(false);
  await expect(decide(held)).rejects.toMatchObject({ code: 'action_changed' });
  await decide(result);
  await finished(system.client, run.id);
  expect(readFileSync(join(system.tree(run.id), 'id.txt'), 'utf8')).toBe(shown.value.stdout);
  expect(readFileSync(join(system.tree(run.id), 'ran.txt'), 'utf8')).toBe('x\n');
  expect(previews(run.id)).toEqual([]);
});
