import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bash, finish, plan, useSharedSystem } from '../harness/index.ts';

const system = useSharedSystem();
const policy = { rules: [{ match: {}, action: 'allow' as const }] };

test('a dry run changes nothing, says what would change, and cannot be published', async () => {
  const path = await system.directoryWith({ 'a.txt': 'a\n' });
  const source = { type: 'directory' as const, path };
  const run = await finish(system.client, {
    // The second call builds on the first.
    ...{ plan: plan([bash('echo b >> a.txt')], [bash('wc -l < a.txt > lines')]), policy },
    ...{ workspace: { source }, modes: { dry_run: true } },
  });
  expect(run).toMatchObject({ status: 'succeeded', dry_run: true });
  const diff = await system.client.diff(run.id, {});
  expect(diff).toMatchObject({ dry_run: true, files: [{ path: 'a.txt' }, { path: 'lines', status: 'added' }] });
  expect(JSON.stringify(diff.files[1])).toContain('+2');
  const publishing = system.client.publish(run.id, {});
  await expect(publishing).rejects.toMatchObject({
    status: 409,
    code: 'dry_run',
    next: expect.stringContaining('dry_run'),
  });
  expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('a\n');
  expect((await system.client.getRun(run.id)).publication.status).toBe('none');
  // A fork of it is a dry run, too.
  const { run: fork } = await system.client.forkRun(run.id, { from_step: 1 });
  expect(fork.dry_run).toBe(true);
});

test('an external effect is described and not made', async () => {
  const run = await finish(system.client, {
    ...{ plan: plan([bash('echo sent > proof.txt')]), policy, network: { allow: ['example.com'] } },
    modes: { dry_run: true },
  });
  const [step] = (await system.client.listSteps(run.id)).data;
  expect(step).toMatchObject({ status: 'succeeded', effect: 'external' });
  expect((await system.client.getStep(step?.id ?? '')).result).toMatchObject({
    dry_run: true,
    not_made: { tool: 'bash', args: { command: 'echo sent > proof.txt' } },
  });
  expect((await system.client.diff(run.id, {})).files).toEqual([]);
});
