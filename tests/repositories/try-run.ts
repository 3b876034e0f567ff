import type { Client } from '@holdpoint/client/client';
import { ApiError } from '@holdpoint/client/errors';
import type { Publish, Run, RunDetail } from '@holdpoint/contract/wire';
import { bash, nextApproval } from '../harness/runs.ts';
import type { System } from '../harness/system.ts';
import { filesOnDisk, isGit } from './files-on-disk.ts';
import type { Made, Scenario } from './scenario.ts';

/** A repository of 10,000 files takes a while where the machine has other work. */
const patience = () => AbortSignal.timeout(100_000);

/** Held at its beginning and at its end, so that the files can be looked at, and steps undone. */
const first = { tool: 'write_file', args: { path: 'first-held', content: 'one\n' } };
const last = { tool: 'write_file', args: { path: 'last-held', content: 'two\n' } };
/** The same, where git tries it. */
export const editsOf = ({ edits }: Scenario): string[] => ['echo one > first-held', ...edits, 'echo two > last-held'];

export async function submit(
  client: Client,
  scenario: Scenario,
  made: Made,
  type: 'git' | 'directory',
): Promise<string> {
  const steps = [first, ...scenario.edits.map((edit) => bash(`set -euo pipefail\n${edit}`)), last];
  const { path, ref } = made;
  const { run } = await client.createRun({
    plan: { groups: steps.map((step) => ({ steps: [step] })) },
    policy: { rules: [{ match: { tool: 'write_file' }, action: 'hold' }] },
    validators: (scenario.validators ?? []).map((command) => ({ command })),
    workspace: {
      source: type === 'directory' ? { type, path } : { type, path, ...(ref === undefined ? {} : { ref }) },
    },
  });
  return run.id;
}

/** Files in the staging tree, as they are on the disk of the worker. The repository in it is not the source's. */
export const staged = (system: System, runId: string): Map<string, string> =>
  filesOnDisk(system.tree(runId), { without: (path) => path.startsWith('.holdpoint') || isGit(path) });

export async function waitUntilHeld(client: Client, runId: string): Promise<void> {
  const until = (run: Run) => run.pending_approvals > 0;
  const { status, reason, pending_approvals } = await client.waitForRun(runId, { until, signal: patience() });
  if (pending_approvals === 0) throw new Error(`the run is ${status}: ${JSON.stringify(reason)}`);
}

export async function approveNext(client: Client, runId: string): Promise<void> {
  await waitUntilHeld(client, runId);
  const { id, action_digest } = await nextApproval(client, runId);
  await client.decideApproval(id, { decision: 'approve', action_digest });
}

/** @throws with the reason, when it has not succeeded */
export async function succeeded(client: Client, runId: string): Promise<RunDetail> {
  const run = await client.waitForRun(runId, { signal: patience() });
  if (run.status === 'succeeded') return run;
  const steps = (await client.listSteps(runId)).data.filter(({ status }) => status !== 'succeeded');
  const details = await Promise.all(steps.map(({ id }) => client.getStep(id)));
  throw new Error(`the run is ${run.status}: ${JSON.stringify(run.reason)} ${JSON.stringify(details)}`);
}

/** Asks for a publish and waits for what comes of it, which may take longer than the API waits. A conflict is an outcome, too. */
export async function publishNow(client: Client, runId: string, body: Publish = {}): Promise<Run['publication']> {
  await client.publish(runId, body).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.code === 'publish_conflict')) throw error;
  });
  const until = ({ publication }: Run) => publication.status !== 'requested';
  return (await client.waitForRun(runId, { until, signal: patience() })).publication;
}

/** The files of a snapshot, as `git ls-tree` would tell them. */
export async function snapshotFiles(client: Client, runId: string, snapshot?: string): Promise<Map<string, string>> {
  const files = await client.listFiles(runId, { snapshot });
  return new Map(files.map(({ path, mode, oid }) => [bytesOf(path), `${mode} ${oid}`]));
}

const letters: Record<string, string> = { a: '\x07', b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' };

/** A path of the API as Latin-1: names that are not UTF-8 are in quotes, as git writes them. */
export function bytesOf(path: string): string {
  if (!/^".*"$/s.test(path)) return Buffer.from(path).toString('latin1');
  return path.slice(1, -1).replace(/\\([0-7]{3}|.)/gs, (_, escaped: string) => {
    if (escaped.length === 3) return String.fromCharCode(Number.parseInt(escaped, 8));
    return letters[escaped] ?? escaped;
  });
}
