import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CreateRun } from '@holdpoint/contract/wire';
import { expect } from 'vitest';
import { parse } from 'yaml';
import {
  approve,
  bash,
  finish,
  finished,
  git,
  nextApproval,
  plan,
  projectDir,
  published,
  type System,
  succeed,
} from '../harness/index.ts';

export interface Everything {
  system: System;
  /** `HOST:PORT` of a loopback site in reach of a run. */
  site: string;
}

/** An example of everything on a dashboard, in the way of the demo and of users. */
export async function doEverything({ system, site }: Everything): Promise<void> {
  await Promise.all([demo(system, 'pagelist'), demo(system, 'cuelines')]);
  await Promise.all([
    askModel(system),
    reach(system, site),
    runBeside(system),
    decide(system),
    fail(system),
    publishTooLate(system),
  ]);
}

/** A plan of the demo: a failing test, a held fix, a passing test, validators, a publish. @returns the id of the run */
export async function demo(system: System, name: 'pagelist' | 'cuelines'): Promise<string> {
  const { client } = system;
  const path = await mkdtemp(join(system.directory, `${name}-`));
  await cp(join(projectDir, 'examples/repos', name), path, { recursive: true });
  if (name === 'pagelist') await commitAll(path);
  const { groups, ...rest } = parse(readFileSync(join(projectDir, `examples/${name}.plan.yaml`), 'utf8'));
  const source = { type: name === 'pagelist' ? ('git' as const) : ('directory' as const), path };
  const { run } = await client.createRun({ ...rest, plan: { groups }, workspace: { source } });
  await approve(client, await nextApproval(client, run.id));
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  await client.publish(run.id);
  await published(client, run.id);
  return run.id;
}

async function commitAll(path: string): Promise<void> {
  await git(path, 'init', '-q', '-b', 'main');
  await git(path, 'add', '.');
  await git(path, '-c', 'user.name=Test', '-c', 'user.email=test@example.invalid', 'commit', '-q', '-m', 'first');
}

async function askModel({ client }: System): Promise<void> {
  const answered = await client.createRun({ prompt: 'list the files' });
  expect(await finished(client, answered.run.id)).toMatchObject({ status: 'succeeded' });
  const later = await client.createRun({ prompt: `ask again later: ${randomUUID()}` });
  expect(await finished(client, later.run.id)).toMatchObject({ status: 'succeeded' });
  const refused = await client.createRun({ prompt: 'be refused' });
  await client.waitForRun(refused.run.id, { until: ({ status }) => status === 'paused' || status === 'failed' });
  await client.cancelRun(refused.run.id).catch(() => undefined);
}

/** A host of the run, and a host out of its reach. */
const reach = ({ client }: System, site: string) =>
  succeed(client, {
    plan: plan([bash(`curl -sS http://${site}/; curl -s http://127.0.0.1:1/ || true`)]),
    network: { allow: [site] },
    policy: { rules: [{ match: {}, action: 'allow' }] },
  });

const runBeside = ({ client }: System) =>
  succeed(client, {
    plan: {
      groups: [
        { steps: [{ name: 'bg', tool: 'bash', args: { command: 'echo beside', run_in_background: true } }] },
        { steps: [{ tool: 'task_output', args: { task_id: { $from: 'bg', pointer: '/task_id' }, wait_s: 30 } }] },
      ],
    },
  });

async function decide({ client }: System): Promise<void> {
  const held: CreateRun = {
    plan: plan([{ tool: 'write_file', args: { path: 'a.txt', content: 'a\n' } }]),
    policy: { rules: [{ match: { tool: 'write_file' }, action: 'hold' }] },
  };
  const rejected = await client.createRun(held);
  const approval = await nextApproval(client, rejected.run.id);
  await client.decideApproval(approval.id, { decision: 'reject', action_digest: approval.action_digest });
  const expired = await client.createRun({
    ...held,
    policy: { ...held.policy, approval_timeout_s: 1 } as typeof held.policy,
  });
  await Promise.all([finished(client, rejected.run.id), finished(client, expired.run.id)]);
}

const fail = ({ client }: System) => finish(client, { plan: plan([bash('exit 3')]) });

async function publishTooLate(system: System): Promise<void> {
  const { client } = system;
  const path = await system.directoryWith({ 'a.txt': 'one\n' });
  const edit = { tool: 'edit', args: { path: 'a.txt', old_string: 'one', new_string: 'two' } };
  const run = await succeed(client, { plan: plan([edit]), workspace: { source: { type: 'directory', path } } });
  await writeFile(join(path, 'a.txt'), 'the user wrote this\n');
  await expect(client.publish(run.id)).rejects.toMatchObject({ status: 409 });
  await client.discard(run.id);
}
