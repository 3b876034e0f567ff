import type { Json } from '@holdpoint/contract';
import type { Approval, CreateRun, StepDetail } from '@holdpoint/contract/wire';
import type { System } from '../../harness/system.ts';
import type { RunFields } from './toolsets/adapter.ts';

export interface Call {
  tool: string;
  args: Json;
}

/** Decides an approval that a call asks for. */
export type Decide = (approval: Approval) => Promise<void>;

/** An open run of a case. */
export interface OpenRun {
  id: string;
  /** Makes the calls as one turn and waits until each is settled. Approvals that they ask for are decided as they come. */
  make(calls: readonly Call[], options: { concurrent?: boolean | undefined; decide: Decide }): Promise<StepDetail[]>;
  /** Its copy of the source on the host, as soon as there is one. */
  tree(): Promise<string>;
  /** Again: no-op. */
  finish(): Promise<void>;
}

export type OpenRunFields = RunFields & Pick<CreateRun, 'toolset' | 'validators' | 'title'>;

/** Bounds a case, not a speed. */
const waitMs = 90_000;

/** @param source a directory */
export async function openRun(system: System, source: string, fields: OpenRunFields): Promise<OpenRun> {
  const { client } = system;
  const workspace = { source: { type: 'directory', path: source } };
  const { id } = await post<{ id: string }>(system, '/v1/runs', { open: true, workspace, ...fields });
  let isFinished = false;
  return {
    id,
    async tree() {
      await client.waitForRun(id, {
        until: ({ workspace: { base } }) => base !== null,
        signal: AbortSignal.timeout(waitMs),
      });
      return system.tree(id);
    },
    async make(calls, { concurrent, decide }) {
      const { steps } = await post<{ steps: { id: string }[] }>(system, `/v1/runs/${id}/calls`, { calls, concurrent });
      await settle(system, id, decide);
      return Promise.all(steps.map((step) => client.getStep(step.id)));
    },
    async finish() {
      if (isFinished) return;
      isFinished = true;
      await post(system, `/v1/runs/${id}/finish`, {});
      await client.waitForRun(id, { signal: AbortSignal.timeout(waitMs) });
    },
  };
}

async function settle({ client }: System, runId: string, decide: Decide): Promise<void> {
  const signal = AbortSignal.timeout(waitMs);
  const isReady = (run: { pending_approvals: number; open_steps: number }) =>
    run.pending_approvals > 0 || run.open_steps === 0;
  for (;;) {
    const run = await client.waitForRun(runId, { until: isReady, signal });
    if (run.pending_approvals === 0 && run.open_steps === 0) return;
    if (run.pending_approvals === 0) throw new Error(`the run is ${run.status}: ${run.reason?.message}`);
    for (const approval of (await client.listApprovals({ run_id: runId }, { signal })).data) await decide(approval);
  }
}

async function post<Answer>({ api, key }: System, path: string, body: object): Promise<Answer> {
  const response = await fetch(`${api.url()}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(waitMs),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${path}: ${text.slice(0, 1000)}`);
  return JSON.parse(text) as Answer;
}
