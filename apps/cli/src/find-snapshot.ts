import type { Client } from '@holdpoint/client';
import { allSteps } from './all-steps.ts';
import { CliError, commandLine } from './shell/index.ts';

/**
 * Finds the id of a snapshot.
 *
 * @param named the id or its first characters, or the number or id of the step that left it; undefined stays undefined
 * @throws CliError `usage`
 */
export async function findSnapshot(
  client: Client,
  runId: string,
  named: string | undefined,
): Promise<string | undefined> {
  if (named === undefined || /^[0-9a-f]{40}$/.test(named)) return named;
  if (isStep(named)) return afterStep(client, runId, named);
  const known = (await client.listSnapshots(runId)).map(({ id }) => id);
  const fitting = new Set(/^[0-9a-f]{4,}$/.test(named) ? known.filter((id) => id.startsWith(named)) : []);
  const [found] = fitting;
  if (found !== undefined && fitting.size === 1) return found;
  const message =
    fitting.size === 0 ? `There is no snapshot ${named}.` : `More than one snapshot begins with ${named}.`;
  throw new CliError('usage', message, { next: `To list them: ${commandLine('runs', 'snapshots', runId)}` });
}

/** A step is named by its number or its id. */
const isStep = (named: string): boolean => /^\d{1,6}$/.test(named) || named.startsWith('step_');

/** The workspace after a step. A step that only reads leaves the snapshot of the step before. */
async function afterStep(client: Client, runId: string, named: string): Promise<string> {
  const steps = await allSteps(client, runId);
  const at = steps.findIndex(({ id, number }) => id === named || String(number) === named);
  const step = steps[at];
  if (step === undefined && named !== '0') {
    const next = `To list them: ${commandLine('runs', 'steps', runId)}`;
    throw new CliError('usage', `There is no step ${named}.`, { next });
  }
  if (step?.snapshot) return step.snapshot;
  const before = steps
    .slice(0, Math.max(0, at))
    .findLast(({ number, snapshot }) => number !== null && snapshot !== null);
  if (before?.snapshot) return before.snapshot;
  const [began] = await client.listSnapshots(runId);
  if (began === undefined) throw new CliError('usage', `${runId} has no snapshots.`);
  return began.id;
}

/** How a request names a step: by its number or its id. */
export const stepReference = (text: string): string | number => (/^\d{1,9}$/.test(text) ? Number(text) : text);
