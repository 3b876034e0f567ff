import { ApiError, type Client } from '@holdpoint/client';
import type { Publish, Run, RunDetail } from '@holdpoint/contract/wire';
import { allowBash, bash, nextApproval, type System } from '../harness/index.ts';
import { filesOnDisk, isGit } from './files-on-disk.ts';
import type { Scenario, TestRepository } from './scenario.ts';

/** A repository of 10,000 files takes long on a busy machine. */
const timeout = () => AbortSignal.timeout(100_000);

/** The first and the last step are held, to let a test read the files and undo steps. */
const first = { tool: 'write_file', args: { path: 'first-held', content: 'one\n' } };
const last = { tool: 'write_file', args: { path: 'last-held', content: 'two\n' } };
/** The same steps as scripts for the reference clone. */
export const editsOf = ({ edits }: Scenario): string[] => ['echo one > first-held', ...edits, 'echo two > last-held'];

export async function submit(
  client: Client,
  scenario: Scenario,
  made: TestRepository,
  type: 'git' | 'directory',
): Promise<string> {
  const steps = [first, ...scenario.edits.map((edit) => bash(`set -euo pipefail\n${edit}`)), last];
  const { path, ref } = made;
  const { run } = await client.createRun({
    plan: { groups: steps.map((step) => ({ steps: [step] })) },
    policy: { rules: [{ match: { tool: 'write_file' }, action: 'hold' }, allowBash] },
    validators: (scenario.validators ?? []).map((command) => ({ command })),
    workspace: { source: type === 'directory' ? { type, path } : { type, path, ref } },
  });
  return run.id;
}

/** The files of the staging tree on the worker's disk, without Holdpoint's repository. */
export const treeFiles = (system: System, runId: string): Map<string, string> =>
  filesOnDisk(system.tree(runId), { without: (path) => path.startsWith('.holdpoint') || isGit(path) });

export async function waitUntilHeld(client: Client, runId: string): Promise<void> {
  const until = (run: Run) => run.pending_approvals > 0;
  const { status, reason, pending_approvals } = await client.waitForRun(runId, { until, signal: timeout() });
  if (pending_approvals === 0) throw new Error(`the run is ${status}: ${JSON.stringify(reason)}`);
}

export async function approveNext(client: Client, runId: string): Promise<void> {
  await waitUntilHeld(client, runId);
  const { id, action_digest } = await nextApproval(client, runId);
  await client.decideApproval(id, { decision: 'approve', action_digest });
}

/** @throws an error with the reason when the run has not succeeded */
export async function waitUntilSucceeded(client: Client, runId: string): Promise<RunDetail> {
  const run = await client.waitForRun(runId, { signal: timeout() });
  if (run.status === 'succeeded') return run;
  const steps = (await client.listSteps(runId)).data.filter(({ status }) => status !== 'succeeded');
  const details = await Promise.all(steps.map(({ id }) => client.getStep(id)));
  throw new Error(`the run is ${run.status}: ${JSON.stringify(run.reason)} ${JSON.stringify(details)}`);
}

/** Requests a publish and waits for its outcome, longer than the API waits. A conflict is an outcome, too. */
export async function publishNow(client: Client, runId: string, body: Publish = {}): Promise<Run['publication']> {
  await client.publish(runId, body).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.code === 'publish_conflict')) throw error;
  });
  const until = ({ publication }: Run) => publication.status !== 'requested';
  return (await client.waitForRun(runId, { until, signal: timeout() })).publication;
}

/** The files of a snapshot in the form of `git ls-tree`. */
export async function snapshotFiles(client: Client, runId: string, snapshot?: string): Promise<Map<string, string>> {
  const files = await client.listFiles(runId, { snapshot });
  return new Map(files.map(({ path, mode, oid }) => [bytesOf(path), `${mode} ${oid}`]));
}

const letters: Record<string, string> = { a: '\x07', b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' };

/** Decodes a path of the API to Latin-1: names outside of UTF-8 are quoted as in git. */
export function bytesOf(path: string): string {
  if (!/^".*"$/s.test(path)) return Buffer.from(path).toString('latin1');
  return path.slice(1, -1).replace(/\\([0-7]{3}|.)/gs, (_, escaped: string) => {
    if (escaped.length === 3) return String.fromCharCode(Number.parseInt(escaped, 8));
    return letters[escaped] ?? escaped;
  });
}
