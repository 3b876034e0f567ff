import type { Client } from '@holdpoint/client';
import { stepIdSchema } from '@holdpoint/contract';
import type { Snapshot } from '@holdpoint/contract/wire';
import { findStep } from './find-step.ts';
import { CliError, commandLine } from './shell/index.ts';

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
