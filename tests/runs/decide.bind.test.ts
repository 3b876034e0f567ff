import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bash, finished, nextApproval, plan } from '../harness/runs.ts';
import { type System, startSystem } from '../harness/system.ts';
import { until } from '../harness/until.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem();
  await system.startWorker();
});
afterAll(() => system[Symbol.asyncDispose]());

const policy = { rules: [{ match: { tool: 'bash' }, action: 'hold' as const }] };
/** A background command that does something once a file `go` appears in the workspace, and removes that file. */
const whenTold = (line: string) => ({
  tool: 'bash',
  args: {
    command: `touch /tmp/begun; until [ -e go ]; do sleep 0.02; done; ${line}; rm go; sleep 1000`,
    run_in_background: true,
  },
});
const approve = async (runId: string) => {
  const approval = await nextApproval(system.client, runId);
  const { action_digest } = approval;
  return system.client.decideApproval(approval.id, { decision: 'approve', action_digest });
};

test('a background command that changes what was approved parks the call again, and nothing ran', async () => {
  const { run } = await system.client.createRun({
    plan: plan(
      [{ tool: 'write_file', args: { path: 'deploy.sh', content: 'echo SAFE | tee ran.txt\n' } }],
      [whenTold('echo "echo EVIL | tee ran.txt" > deploy.sh')],
      [bash('bash ./deploy.sh')],
    ),
    policy,
  });
  await approve(run.id);
  const shown = await nextApproval(system.client, run.id);
  await until('it runs', async () => (await system.client.listTasks(run.id))[0]?.status === 'running');
  writeFileSync(join(system.tree(run.id), 'go'), '');
  await until('it has written', () => !existsSync(join(system.tree(run.id), 'go')));
  const { action_digest } = shown;
  await system.client.decideApproval(shown.id, { decision: 'approve', action_digest });
  const again = await nextApproval(system.client, run.id);
  expect(again.id).not.toBe(shown.id);
  expect(again.action_digest).not.toBe(action_digest);
  expect(existsSync(join(system.tree(run.id), 'ran.txt'))).toBe(false);
  await system.client.cancelRun(run.id);
  await finished(system.client, run.id);
});
