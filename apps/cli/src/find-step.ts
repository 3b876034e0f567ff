import { ApiError, type Client } from '@holdpoint/client';
import { stepIdSchema } from '@holdpoint/contract';
import type { Page, Step } from '@holdpoint/contract/wire';
import { isShortFor, shortIdIn } from './naming/ids.ts';
import { CliError, commandLine } from './shell/index.ts';

/**
 * Finds a step by its number, its id, its name, or a short id.
 *
 * @throws CliError `unknown_id`, `ambiguous_id`
 */
export async function findStep(
  client: Client,
  runId: string,
  named: string,
): Promise<{ id: string; number: number | null }> {
  const known = (await findListed(client, runId, named)) ?? (await findWaiting(client, runId, named));
  if (known !== undefined) return known;
  const steps = await allSteps(client, runId);
  const short = shortIdIn(named, 'step');
  const exact = steps.filter(({ name }) => name === named);
  const found = exact.length > 0 ? exact : steps.filter(({ id }) => short !== undefined && isShortFor(id, short));
  const [step, second] = found;
  const next = `To list the steps: ${commandLine('runs', 'steps', runId)}`;
  if (step === undefined) throw new CliError('unknown_id', `The run has no step ${named}.`, { next });
  if (second === undefined) return step;
  const ids = found.slice(0, 10).map(({ id, tool }) => `\n  ${id}  ${tool}`);
  throw new CliError('ambiguous_id', `${found.length} steps fit ${named}:${ids.join('')}`);
}

/** By its number or whole id: the list begins with it. */
async function findListed(client: Client, runId: string, named: string) {
  const isNumber = /^[1-9]\d{0,5}$/.test(named);
  if (!isNumber && !stepIdSchema.safeParse(named).success) return undefined;
  const page = client.listStepSummaries(runId, { from: isNumber ? Number(named) : named, limit: 1 });
  return page.then(({ data }) => data[0]).catch(unlessNotFound);
}

/** A call of an open run that waits behind an earlier turn is in no list yet: by its whole id. */
async function findWaiting(client: Client, runId: string, named: string) {
  if (!stepIdSchema.safeParse(named).success) return undefined;
  const step = await client.getStep(named).catch(unlessNotFound);
  return step?.run_id === runId ? { id: step.id, number: null } : undefined;
}

/** A name may be a number, too. */
function unlessNotFound(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.code !== 'step_not_found') throw error;
}

/** How a request names a step: by its number or its whole id. 0 is the moment before the first step. */
export async function stepReference(client: Client, runId: string, text: string): Promise<string | number> {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  return stepIdSchema.safeParse(text).success ? text : (await findStep(client, runId, text)).id;
}

/** All steps of a run, page by page, in the order they were planned. */
export async function allSteps(
  client: Client,
  runId: string,
  onPage: (page: Pick<Page<Step>, 'damaged'>) => void = () => {},
): Promise<Step[]> {
  const steps: Step[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await client.listSteps(runId, { limit: 1000, cursor });
    steps.push(...page.data);
    onPage(page);
    if (page.next_cursor === null) return steps;
    cursor = page.next_cursor;
  }
}
