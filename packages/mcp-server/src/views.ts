import type { Approval, Run, RunDetail } from '@holdpoint/client';
import { isTerminal } from '@holdpoint/contract';
import { oneLine, plain, plainJson } from '@holdpoint/readable';
import { z } from 'zod';
import { cutText } from './bounds.ts';

const mostAnswer = 16 * 1024;
const mostReason = 2000;

const problemViewSchema = z.object({ code: z.string(), message: z.string(), next: z.string().optional() });

const askedSchema = z.object({
  approval_id: z.string(),
  what: z.string().describe('The call or publish that waits for a person, on one line'),
  risk: z.string(),
  expires_at: z.string(),
  url: z.string().describe('The page on which a person decides'),
});

export const runViewSchema = z.object({
  run_id: z.string(),
  title: z.string(),
  status: z.string().describe('queued, running, waiting, paused, canceling, canceled, succeeded or failed'),
  ended: z.boolean(),
  state: z.string().describe('Pass it to wait_for_run as seen_state to hear of the next change'),
  needs_person: z.array(askedSchema).describe('What waits for a person. Only a person can decide, at the url'),
  needs_person_total: z.int().describe('Pending approvals in all; needs_person has the oldest of them'),
  reason: problemViewSchema.nullable().describe('Why the run is paused or failed'),
  answer: z.string().nullable().describe('The last message of a run that succeeded'),
  output: z
    .json()
    .describe(
      'The answer as a value, when the run had an output schema; null without one, and when it is longer than 16 KiB',
    ),
  publication: z
    .string()
    .describe('Whether a person has published the changes to the source: none, requested, published, …'),
  turns: z.int(),
  steps: z.int(),
  cost_usd: z.number(),
  created_at: z.string(),
  ended_at: z.string().nullable(),
  url: z.string().describe('The page of the run, for a person'),
  next: z.string().describe('What to do now'),
});
export type RunView = z.infer<typeof runViewSchema>;

/** Waiters compare this text: the text changes when a run ends, pauses, asks for something, or its publish moves. */
export const stateOf = ({ status, pending_approvals, paused_agents, publication, reason }: Run): string =>
  [status, pending_approvals, paused_agents, publication.status, reason?.code ?? '-'].join('/');

/** @param asked pending approvals of the run, as far as its caller may read them */
export function viewOfRun(address: string, run: RunDetail, asked: readonly Approval[]): RunView {
  const answer = run.message === null ? null : cutText(plain(run.message), mostAnswer, 'the page of the run has it');
  const { reason } = run;
  return {
    run_id: run.id,
    title: oneLine(run.title),
    status: run.status,
    ended: isTerminal(run.status),
    state: stateOf(run),
    needs_person: asked.map((approval) => viewOfAsked(address, approval)),
    needs_person_total: run.pending_approvals,
    reason: reason === null ? null : shownProblem(reason),
    answer,
    output: Buffer.byteLength(plainJson(run.output)) > mostAnswer ? null : run.output,
    publication: run.publication.status,
    turns: run.turn,
    steps: run.usage.steps,
    cost_usd: run.usage.cost_usd,
    created_at: run.created_at,
    ended_at: run.ended_at,
    url: `${address}/runs/${run.id}`,
    next: nextOf(run),
  };
}

const shownProblem = ({ code, message, next }: NonNullable<Run['reason']>): z.infer<typeof problemViewSchema> => ({
  code,
  message: cutText(plain(message), mostReason, 'the page of the run has it'),
  ...(next !== undefined && { next: plain(next) }),
});

const viewOfAsked = (address: string, { id, readable, risk, expires_at }: Approval): z.infer<typeof askedSchema> => ({
  approval_id: id,
  what: oneLine(readable.action, 300),
  risk,
  expires_at,
  url: `${address}/approvals/${id}`,
});

function nextOf({ status, pending_approvals, publication }: Run): string {
  if (status === 'succeeded') {
    return publication.status === 'published'
      ? 'The changes are published. Nothing is left to do.'
      : 'Read the changes with get_diff. A person reviews and publishes them at the url.';
  }
  if (status === 'failed') return 'Read the reason. fork_run continues from a step with another goal or model.';
  if (status === 'canceled') return 'The run is over. fork_run continues it from a step.';
  if (status === 'paused') return 'A person resumes the run at the url. Tell them the reason.';
  if (pending_approvals > 0) {
    return 'Tell the person what waits, with its url. Only a person can decide. Then call wait_for_run, or do other work: the run keeps its place for days.';
  }
  return 'Call wait_for_run, or do other work: the run needs nothing from you.';
}

/** The same facts for a model, in few tokens. */
export function textOfRun(view: RunView): string {
  const { needs_person, needs_person_total, reason, answer, output, cost_usd } = view;
  const more = needs_person_total - needs_person.length;
  return [
    `${view.run_id} "${view.title}": ${view.status}${view.publication === 'none' ? '' : `, publication ${view.publication}`}`,
    `turns ${view.turns}, steps ${view.steps}, ${cost_usd.toFixed(2)} USD, state ${view.state}`,
    ...needs_person.map(
      ({ approval_id, what, risk, expires_at, url }) =>
        `waits for a person (${approval_id}, risk ${risk}, until ${expires_at}): ${what}\n  decide at ${url}`,
    ),
    ...(more > 0 ? [`${more} more approvals wait: list_approvals`] : []),
    ...(reason === null ? [] : [`reason: ${reason.message} (${reason.code}) ${reason.next ?? ''}`.trimEnd()]),
    ...(answer === null ? [] : ['answer:', answer]),
    ...(output === null ? [] : ['output:', plainJson(output)]),
    `page: ${view.url}`,
    `next: ${view.next}`,
  ].join('\n');
}

/** A run on a line of a list, with the number of its pending approvals. */
export const runLineOf = ({ id, title, status, pending_approvals, created_at }: Run) => ({
  run_id: id,
  title: oneLine(title, 200),
  status,
  pending_approvals,
  created_at,
});
