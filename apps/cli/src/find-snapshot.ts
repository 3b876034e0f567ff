import type { Client } from '@holdpoint/client';
import { CliError, commandLine } from './shell/index.ts';

/**
 * Finds the snapshot that begins with these characters. The API finds the snapshot of a step, as an undo does.
 * @param named the id or its first characters, or the number or id of a step; undefined stays undefined
 * @throws CliError `not_found`; `usage` when several begin so
 */
export async function findSnapshot(
  client: Client,
  runId: string,
  named: string | undefined,
): Promise<string | undefined> {
  if (named === undefined || /^[0-9a-f]{40}$/.test(named) || isStep(named)) return named;
  const known = (await client.listSnapshots(runId)).map(({ id }) => id);
  const fitting = new Set(/^[0-9a-f]{4,}$/.test(named) ? known.filter((id) => id.startsWith(named)) : []);
  const [found] = fitting;
  if (found !== undefined && fitting.size === 1) return found;
  const message =
    fitting.size === 0 ? `There is no snapshot ${named}.` : `More than one snapshot begins with ${named}.`;
  throw new CliError(fitting.size === 0 ? 'not_found' : 'usage', message, {
    next: `To list them: ${commandLine('runs', 'snapshots', runId)}`,
  });
}

/** A step is named by its number or its id. */
const isStep = (named: string): boolean => /^\d{1,6}$/.test(named) || named.startsWith('step_');

/** How a request names a step: by its number or its id. */
export const stepReference = (text: string): string | number => (/^\d{1,9}$/.test(text) ? Number(text) : text);
