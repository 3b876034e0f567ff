import type { Client } from '@holdpoint/client';
import type { Json } from '@holdpoint/contract';
import type { Approval, CreateRun, Run, StepDetail } from '@holdpoint/contract/wire';
import type { System } from '../../harness/system.ts';
import type { RunFields } from './toolsets/adapter.ts';

interface Call {
  tool: string;
  args: Json;
}

/** Decides an approval requested by a call. */
export type Decide = (approval: Approval) => Promise<void>;

/** An open run of a case. */
export interface OpenRun {
  id: string;
  /** Makes the calls as a single turn and waits until each is settled. Their approvals are decided at their arrival. */
  make(calls: readonly Call[], options: { concurrent?: boolean | undefined; decide: Decide }): Promise<StepDetail[]>;
  /** Its copy of the source on the host, once made. */
  tree(): Promise<string>;
  /** Again: no-op. */
  finish(): Promise<void>;
}

export type OpenRunFields = RunFields & Pick<CreateRun, 'toolset' | 'validators' | 'title'>;

/** Bounds a case, not a speed. */
const waitMs = 90_000;

/** @param source a directory */
export async function openRun({ client, tree }: System, source: string, fields: OpenRunFields): Promise<OpenRun> {
  const workspace = { source: { type: 'directory' as const, path: source } };
  // A case may leave a setting undefined: JSON drops the field.
  const settings = fields.settings as CreateRun['settings'];
  const { run } = await client.createRun({ open: true, workspace, ...fields, settings });
  const { id } = run;
  let isFinished = false;
  return {
    id,
    async tree() {
      const hasTree = ({ workspace: { base } }: Run) => base !== null;
      await client.waitForRun(id, { until: hasTree, signal: AbortSignal.timeout(waitMs) });
      return tree(id);
    },
    async make(calls, { concurrent, decide }) {
      const { number } = await client.sendCalls(id, { calls: [...calls], concurrent });
      return settle(client, { runId: id, number, decide });
    },
    async finish() {
      if (isFinished) return;
      isFinished = true;
      await client.finishRun(id);
      await client.waitForRun(id, { signal: AbortSignal.timeout(waitMs) });
    },
  };
}

async function settle(
  client: Client,
  { runId, number, decide }: { runId: string; number: number; decide: Decide },
): Promise<StepDetail[]> {
  const signal = AbortSignal.timeout(waitMs);
  for (;;) {
    const { settled, steps } = await client.getCalls(runId, number, { signal });
    if (settled) return steps;
    const run = await client.waitForRun(runId, { until: needsAttention, signal });
    const { data: approvals } = await client.listApprovals({ run_id: runId }, { signal });
    for (const approval of approvals) await decide(approval);
    if (run.status === 'paused' || run.ended_at !== null) {
      throw new Error(`the run is ${run.status}: ${run.reason?.message}`);
    }
  }
}

const needsAttention = (run: Run): boolean =>
  run.pending_approvals > 0 || run.open_steps === 0 || run.status === 'paused';
