import type { Json, Payload } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import { Damaged, type NumberedStep, type StepState, type StepsQuery } from '@holdpoint/engine';
import { z } from 'zod';
import type { ApiDeps, App } from '../../deps.ts';
import { invalidCursor, PlacedError, placeEngineError, showDamaged } from '../../errors/to-problem.ts';
import { checkRunId } from '../runs/read-runs.ts';
import { showStep, toAttempt, toStep } from './step-view.ts';

export function readStepsRoutes(app: App): void {
  app.get(
    '/v1/runs/:id/steps',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['steps'],
        operationId: 'listSteps',
        summary: 'List the steps of a run',
        description:
          'A page reads what it shows, however long the run is. A page with a filter looks at 1,000 steps at most: it can have fewer steps ' +
          'than its limit, or none, and still have a `next_cursor`.',
        params: wire.idParamsSchema,
        querystring: wire.listStepsQuerySchema,
        response: { 200: z.union([wire.stepPageSchema, wire.stepSummaryPageSchema]) },
      },
    },
    async ({ params, query: { view, ...query }, deps }) => {
      const { run, steps, damaged, next } = await readPage(deps, checkRunId(params.id), query);
      const page = { next_cursor: next ?? null, has_more: next !== undefined };
      if (view === 'summary') return { data: steps.map(toSummary), ...page, ...showDamaged(deps, damaged) };
      const results = await deps.engine.runs.results(
        run,
        steps.map(({ step }) => step),
      );
      const unread = results.filter((result) => result instanceof Damaged);
      const data = steps.map((one, at) => toStep(run.id, one, shownResult(one.step, results[at])));
      return { data, ...page, ...showDamaged(deps, [...damaged, ...unread]) };
    },
  );

  app.get(
    '/v1/steps/:id',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['steps'],
        operationId: 'getStep',
        summary: 'Read a step, with its arguments and its result',
        params: wire.idParamsSchema,
        response: { 200: wire.stepDetailSchema },
      },
    },
    async ({ params, deps }) => showStep(deps, params.id),
  );

  app.get(
    '/v1/steps/:id/attempts',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['steps'],
        operationId: 'listAttempts',
        summary: 'List the attempts at a step, with what the sandbox enforced',
        params: wire.idParamsSchema,
        response: { 200: wire.attemptListSchema },
      },
    },
    async ({ params, deps }) => {
      const { run, step } = await deps.engine.runs.step(params.id);
      const attempts = await deps.engine.runs.attempts(run.id, step.id);
      return { data: attempts.map(toAttempt) };
    },
  );
}

/** An unreadable result is shown as far as the state has the content. */
const shownResult = (
  { outcome }: StepState,
  result: Payload<Json> | Damaged | null | undefined,
): Payload<Json> | null => (result instanceof Damaged ? (outcome?.value ?? null) : (result ?? null));

async function readPage({ engine }: Pick<ApiDeps, 'engine'>, runId: string, query: StepsQuery) {
  try {
    return await placeEngineError({ step_not_found: 'from' }, () => engine.runs.stepsPage(runId, query));
  } catch (error) {
    if (query.cursor === undefined || !(error instanceof PlacedError)) throw error;
    throw invalidCursor(error.message);
  }
}

const mostToolBytes = 64;
const mostCodeBytes = 24;

export function toSummary({ step, number }: NumberedStep): wire.StepSummary {
  const { id, call, effect, status, outcome } = step;
  const summary = {
    ...{ id, number, turn: call.turn, tool: '', title: '', effect, status },
    error: outcome?.error === undefined ? null : cutTo(outcome.error.code, mostCodeBytes),
    ...{ started_at: step.started_at ?? null, settled_at: step.settled_at ?? null },
  };
  summary.tool = cutTo(call.tool, Math.min(mostToolBytes, wire.mostSummaryBytes - bytesOf(summary)));
  summary.title = cutTo(call.name ?? firstText(call.written ?? step.args), wire.mostSummaryBytes - bytesOf(summary));
  return summary;
}

/** Only the beginning of a large value is known, possibly without the end of the text. */
function firstText(args: Payload): string {
  if ('preview' in args) return readText(/:\s*"((?:[^"\\]|\\.)*)/.exec(args.preview)?.[1] ?? '');
  const { json } = args;
  const values = typeof json === 'object' && json !== null ? Object.values(json) : [];
  return values.find((value) => typeof value === 'string') ?? '';
}

function readText(escaped: string): string {
  try {
    return JSON.parse(`"${escaped}"`) as string;
  } catch {
    return '';
  }
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** The beginning of a text on a single line: its JSON has at most this many bytes, without its quotation marks. */
function cutTo(text: string, most: number): string {
  const line = text.slice(0, most).replaceAll(/\s+/g, ' ').trim();
  if (line.length === text.length && bytesOf(line) - 2 <= most) return line;
  let cut = '';
  let left = most - bytesOf('…') + 2;
  if (left < 0) return '';
  for (const character of line) {
    left -= bytesOf(character) - 2;
    if (left < 0) break;
    cut += character;
  }
  return `${cut}…`;
}
