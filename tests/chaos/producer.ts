import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type Client } from '@holdpoint/client';
import { type Answered, decisionFor, type Ledger } from './ledger.ts';
import type { Random } from './random.ts';
import { type Scenario, type Sources, scenario } from './scenario.ts';

interface Deps {
  client: Client;
  /** Submits runs, and its rate is limited. */
  submitter: Client;
  ledger: Ledger;
  random: Random;
  sources: Sources;
  signal: AbortSignal;
}

/** Sends a request until an answer arrives: the API may have handled a request with a lost answer. A refusal is an answer. */
const retry = async <Answer>(deps: Deps, send: () => Promise<Answer>): Promise<Answer | ApiError> =>
  (await retryTimed(deps, send)).answer;

/** @returns also when the answered request was sent, and when its answer arrived */
async function retryTimed<Answer>(
  { ledger, signal }: Deps,
  send: () => Promise<Answer>,
): Promise<{ answer: Answer | ApiError; at: Answered }> {
  const from = performance.now();
  for (;;) {
    const sent = Date.now();
    try {
      const answer = await send();
      return { answer, at: { sent, answered: Date.now() } };
    } catch (error) {
      const isLimit = error instanceof ApiError && error.status === 429;
      if (isLimit && !signal.aborted) {
        ledger.limited += 1;
        await pause(500);
        continue;
      }
      if (error instanceof ApiError && error.status < 500) return { answer: error, at: { sent, answered: Date.now() } };
      // A machine with other work takes longer to restart killed processes.
      if (signal.aborted && performance.now() - from > 60_000) throw error;
      ledger.unanswered += 1;
      await pause(200);
    }
  }
}

/** Submits runs and does to each the actions of its scenario. Resolves when every action was tried. */
export async function produce(
  deps: Deps,
  { runs, spreadMs, steer }: { runs: number; spreadMs: number; steer: number },
): Promise<void> {
  const later: Promise<void>[] = [];
  for (let number = 1; number <= runs && !deps.signal.aborted; number++) {
    const made = scenario(number, deps.random.branch(`run ${number}`), deps.sources);
    later.push(perform(deps, made, steer));
    await pause(spreadMs / runs);
  }
  await Promise.all(later);
}

/** Per accepted run. */
const mostKeptOut = 0.5;

async function perform(deps: Deps, made: Scenario, steer: number): Promise<void> {
  const { client, submitter, ledger } = deps;
  const key = `chaos-${made.number}`;
  const { answer: created, at: createdAt } = await retryTimed(deps, () =>
    submitter.createRun(made.body, { idempotencyKey: key }),
  );
  if (created instanceof ApiError && created.status === 429) {
    ledger.keptOut += 1;
    // A trial without runs says nothing.
    if (ledger.keptOut > mostKeptOut * ledger.runs.size + 5) throw created;
    return;
  }
  if (created instanceof ApiError) throw created;
  const { id } = created.run;
  ledger.runs.set(id, { at: createdAt, body: made.body });
  const at = async (ms: number | undefined, act: () => Promise<void>): Promise<void> => {
    if (ms === undefined) return;
    await pause(ms);
    await act();
  };
  await Promise.all([
    at(made.cancelAfter, async () => void (await retry(deps, () => client.cancelRun(id)))),
    at(made.pauseAfter, async () => {
      await retry(deps, () => client.pauseRun(id));
      await pause(500);
      await retry(deps, () => client.resumeRun(id));
    }),
    at(made.undoAfter, async () => {
      await retry(deps, () => client.pauseRun(id));
      await retry(deps, () => client.undoSteps(id, { to_step: 1, keep_external_effects: true }));
      await retry(deps, () => client.resumeRun(id));
    }),
    pauseOften(deps, id, { times: steer, random: deps.random.branch(`steer ${made.number}`) }),
    at(made.messageAfter, () => sendMessage(deps, id, `message for ${made.number}`)),
    at(made.forkAfter, () => fork(deps, id, made)),
    made.publish ? publish(deps, id) : undefined,
    at(made.killTaskAfter, async () => {
      const tasks = await retry(deps, () => client.listTasks(id));
      if (tasks instanceof ApiError || tasks[0] === undefined) return;
      const task = tasks[0].id;
      await retry(deps, () => client.killTask(task));
    }),
  ]);
}

/** Pauses and resumes a run within milliseconds: some resumes meet the end of the job with the pause. */
async function pauseOften(
  deps: Deps,
  runId: string,
  { times, random }: { times: number; random: Random },
): Promise<void> {
  for (let time = 0; time < times; time++) {
    await pause(random.integer(0, 400));
    if ((await retry(deps, () => deps.client.pauseRun(runId))) instanceof ApiError) return;
    await pause(random.integer(0, 12));
    await retry(deps, () => deps.client.resumeRun(runId));
  }
}

async function sendMessage(deps: Deps, runId: string, text: string): Promise<void> {
  const { answer: sent, at } = await retryTimed(deps, () =>
    deps.client.sendMessage(runId, text, { idempotencyKey: text }),
  );
  if (!(sent instanceof ApiError)) deps.ledger.messages.push({ at, runId, messageId: sent.message_id, text });
}

/** Publishes the run as soon as the run has succeeded. */
async function publish(deps: Deps, runId: string): Promise<void> {
  for (;;) {
    const run = await retry(deps, () => deps.client.getRun(runId));
    if (run instanceof ApiError || run.status === 'failed' || run.status === 'canceled' || deps.signal.aborted) return;
    if (run.status === 'succeeded') break;
    await pause(300);
  }
  const { answer: published, at } = await retryTimed(deps, () => deps.client.publish(runId));
  if (!(published instanceof ApiError)) deps.ledger.published.push({ at, runId });
}

async function fork(deps: Deps, runId: string, made: Scenario): Promise<void> {
  const steps = await retry(deps, () => deps.client.listSteps(runId, { limit: 500 }));
  if (steps instanceof ApiError) return;
  const alive = steps.data.filter((step) => step.number !== null);
  const settled = alive.findIndex((step) =>
    ['pending', 'parked', 'queued', 'running', 'deferred', 'indeterminate'].includes(step.status),
  );
  const last = settled === -1 ? alive.length : settled;
  if (last === 0) return;
  const from = made.number % (last + 1);
  const kept = alive.slice(0, from).map((step) => step.id);
  const body = { from_step: kept.at(-1) ?? 0, title: `fork of ${made.number}` };
  const key = `chaos-fork-${made.number}`;
  const { answer: forked, at } = await retryTimed(deps, () =>
    deps.submitter.forkRun(runId, body, { idempotencyKey: key }),
  );
  if (!(forked instanceof ApiError)) {
    deps.ledger.runs.set(forked.run.id, { at, body: made.body, forkedFrom: { runId, kept } });
  }
}

/** Decides open approvals, several at once and with different decisions, until `stop` is aborted. */
export async function decide(deps: Deps, options: { all: boolean; stop: AbortSignal }): Promise<void> {
  const { client, ledger, random } = deps;
  while (!options.stop.aborted) {
    const page = await client.listApprovals({ limit: 50 }).catch(() => undefined);
    for (const approval of page?.data ?? []) {
      if (!options.all && approval.kind !== 'indeterminate' && random.chance(0.5)) continue;
      const deciders = random.integer(1, 3);
      await Promise.all(
        Array.from({ length: deciders }, async (_, index) => {
          const decision = random.pick(approval.allowed_decisions);
          const message = `${decision} ${approval.id} ${index} ${random.integer(1, 1e9)}`;
          const { answer, at } = await retryTimed(deps, () =>
            client.decideApproval(approval.id, decisionFor(approval, decision, message)),
          );
          if (answer instanceof ApiError) ledger.refused += 1;
          else ledger.decided.push({ at, approvalId: approval.id, runId: approval.run_id, decision, message });
        }),
      );
    }
    await pause(150);
  }
}
