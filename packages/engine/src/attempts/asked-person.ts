import type { AnsweredQuestion, AskedPerson, ToolOutcome, Verdict } from '@holdpoint/contract';
import { whyNotAnswerable } from '../approvals/request-approval.ts';
import type { WorkerDeps } from '../deps.ts';
import type { NewQuestion, RunState, StepState } from '../domain/index.ts';
import { fromPayload, toPayload } from '../log/index.ts';

type Waits = Extract<ToolOutcome, { status: 'deferred' }>;
type AsksPerson = Extract<Waits, { on: AskedPerson }>;

/** Whether the server asks a person before the call continues. */
export const asksPerson = (made: ToolOutcome): made is AsksPerson =>
  made.status === 'deferred' && 'question' in made.on;
export const isTaskWait = (made: ToolOutcome): made is Exclude<Waits, AsksPerson | { on: { outside: string } }> =>
  made.status === 'deferred' && !asksPerson(made) && !('outside' in made.on);

/** Question and state are on disk before the event that names them. */
export async function toQuestion(
  { blobs }: WorkerDeps,
  { question, state }: AskedPerson,
): Promise<Pick<NewQuestion, 'question' | 'state'>> {
  const bytes = state === undefined ? undefined : Buffer.from(state);
  return {
    question: await toPayload(blobs, question),
    state: bytes && { sha256: await blobs.put(bytes), bytes: bytes.length },
  };
}

/** The answers of a person and what the other side wants back with them. */
export async function answeredBy(
  { blobs }: WorkerDeps,
  { asked, answers }: StepState,
): Promise<AnsweredQuestion | undefined> {
  if (asked === undefined || answers === undefined) return undefined;
  return {
    round: asked.round,
    answers: await fromPayload(blobs, answers),
    state: asked.state && (await blobs.get(asked.state.sha256)).toString('utf8'),
  };
}

/** Fails a call whose question no single person may answer. */
export async function answerable(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  { verdict, made }: { verdict: Verdict; made: ToolOutcome },
): Promise<ToolOutcome> {
  if (!asksPerson(made)) return made;
  const error = await whyNotAnswerable(deps, run, step, verdict);
  return error === undefined ? made : { status: 'failed', error, touched: made.touched };
}
