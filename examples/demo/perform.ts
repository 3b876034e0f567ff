import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@holdpoint/client';
import type { Approval, CreateRun, RunDetail, RunEvent, Step } from '@holdpoint/contract/wire';
import { parse } from 'yaml';
import { expect, expectEqual } from './expect.ts';
import { heading, notice, proof, quote, say } from './say.ts';

interface Performance {
  client: Client;
  signal: AbortSignal;
  examples: string;
  /** Name of the plan. */
  name: 'pagelist' | 'cuelines';
  source: NonNullable<CreateRun['workspace']>['source'];
  /** The only file with a permitted change. */
  fixed: string;
}

/**
 * Submits one plan, follows its events, approves its held call, and checks every claim up to the reviewed change set.
 *
 * @returns the ended run
 */
export async function perform(performance: Performance): Promise<RunDetail> {
  const { client, signal, name, fixed } = performance;
  const { run } = await client.createRun(await bodyOf(performance), { signal });
  say(`submitted ${run.id}: ${run.title}`);
  const events: RunEvent[] = [];
  const calls = new Map<string, string>();
  for await (const event of client.events(run.id, { signal })) {
    events.push(event);
    if (event.type === 'step.created') calls.set(event.step_id, `${event.data.name ?? ''} (${event.data.tool})`);
    progress(event, calls);
    if (event.type === 'approval.requested') await approve(performance, event.data.approval_id);
  }
  const ended = await client.getRun(run.id, { signal });
  expectEqual(ended.status, 'succeeded', `status of ${run.id}`);
  await checkSteps(performance, run.id);

  heading(`${name}: timeline`);
  for (const line of timeline(events, calls)) say(line);

  heading(`${name}: change set`);
  const diff = await client.diff(run.id, {}, { signal });
  expectEqual(diff.files.map(({ path }) => path).join(), fixed, 'changed files');
  quote(await client.patch(run.id, {}, { signal }));
  return ended;
}

async function bodyOf({ examples, name, source }: Performance): Promise<CreateRun> {
  const { groups, ...rest } = parse(await readFile(join(examples, `${name}.plan.yaml`), 'utf8'));
  return { ...rest, plan: { groups }, workspace: { source }, labels: { example: name } };
}

/** Shows the preview of the held call and approves exactly this call. */
async function approve({ client, signal, fixed }: Performance, id: string): Promise<void> {
  const approval = await client.getApproval(id, { signal });
  notice(`held: ${approval.action.tool} (${approval.reason}). It would do this:`);
  quote(previewOf(approval));
  expect(previewOf(approval).includes(fixed), `the preview to show ${fixed}`);
  const decision = { decision: 'approve', action_digest: approval.action_digest } as const;
  const decided = await client.decideApproval(id, decision, { signal });
  expectEqual(decided.status, 'approved', `status of ${id}`);
  say(`approved ${id} for ${approval.action_digest}\n`);
}

function previewOf({ preview }: Approval): string {
  expect(typeof preview === 'object' && preview !== null && 'patch' in preview, 'a preview with a patch');
  return String(preview.patch);
}

async function checkSteps({ client, signal }: Performance, runId: string): Promise<void> {
  const { data: steps } = await client.listSteps(runId, {}, { signal });
  const named = (name: string): Step => {
    const step = steps.find((one) => one.name === name);
    expect(step !== undefined, `a step ${name}`);
    return step;
  };
  expectEqual(named('failing_tests').status, 'failed', 'tests before the fix');
  expectEqual(named('failing_tests').error?.code, 'EEXIT', 'why they failed');
  expectEqual(named('fix').status, 'succeeded', 'the fix');
  expectEqual(named('passing_tests').status, 'succeeded', 'tests after the fix');
  proof('the tests failed before the fix and pass after it');
}

function progress(event: RunEvent, calls: ReadonlyMap<string, string>): void {
  if (
    !('step_id' in event) ||
    event.step_id === undefined ||
    event.type === 'step.created' ||
    event.type === 'step.queued'
  )
    return;
  say(`  ${event.type.padEnd(22)} ${calls.get(event.step_id) ?? event.step_id}`);
}

/** Every event, with the seconds since the first. */
function timeline(events: readonly RunEvent[], calls: ReadonlyMap<string, string>): string[] {
  const start = Date.parse(events[0]?.time ?? '');
  return events.map((event) => {
    const seconds = ((Date.parse(event.time) - start) / 1000).toFixed(3).padStart(8);
    const call = 'step_id' in event ? (calls.get(event.step_id ?? '') ?? '') : '';
    return `${String(event.seq).padStart(4)} ${seconds} s  ${event.type.padEnd(24)} ${call}`.trimEnd();
  });
}
