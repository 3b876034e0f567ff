import { ApiError, type Client } from '@holdpoint/client';
import { stepIdSchema } from '@holdpoint/contract';
import type { Page, Snapshot, Step } from '@holdpoint/contract/wire';
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

/**
 * Finds the snapshot with these first characters. The API finds the snapshot of a step, as an undo does.
 * @param named the id or its first characters, or the number, id or name of a step; undefined yields undefined
 * @throws CliError `not_found`; `usage` for several such snapshots
 */
export async function findSnapshot(
  client: Client,
  runId: string,
  named: string | undefined,
): Promise<string | undefined> {
  if (named === undefined || isKnownToApi(named) || isStep(named)) return named;
  const fitting = new Set<string>();
  if (/^[0-9a-f]{4,}$/.test(named)) {
    for await (const { id } of everySnapshot(client, runId)) if (id.startsWith(named)) fitting.add(id);
  }
  const [found] = fitting;
  if (found !== undefined && fitting.size === 1) return found;
  const step = fitting.size === 0 ? await stepNamed(client, runId, named) : undefined;
  if (step !== undefined) return step;
  const message =
    fitting.size === 0 ? `There is no snapshot ${named}.` : `More than one snapshot begins with ${named}.`;
  throw new CliError(fitting.size === 0 ? 'not_found' : 'usage', message, {
    next: `To list them: ${commandLine('runs', 'snapshots', runId)}`,
  });
}

/** All snapshots of a run, page by page, the newest first. */
export async function* everySnapshot(client: Client, runId: string): AsyncGenerator<Snapshot> {
  for (let cursor: string | undefined; ; ) {
    const page = await client.listSnapshots(runId, { order: 'desc', limit: 1000, cursor });
    yield* page.data;
    if (page.next_cursor === null) return;
    cursor = page.next_cursor;
  }
}

const isKnownToApi = (named: string): boolean =>
  named === 'source' || named === 'current' || /^[0-9a-f]{40}$/.test(named);

/** The API knows a step by its number or its whole id. */
const isStep = (named: string): boolean => /^\d{1,6}$/.test(named) || stepIdSchema.safeParse(named).success;

/** A step by a short id or a name. */
const stepNamed = (client: Client, runId: string, named: string): Promise<string | undefined> =>
  findStep(client, runId, named).then(
    ({ id }) => id,
    (error: unknown) => {
      if (!(error instanceof CliError) || error.code !== 'unknown_id') throw error;
      return undefined;
    },
  );
