import type { Client } from '@holdpoint/client';
import type { Decide } from '@holdpoint/contract/wire';
import { showWhole } from '../../deciding/ask-decision.ts';
import { askResolutions } from '../../deciding/ask-resolutions.ts';
import { hunksText } from '../../deciding/conflicts.ts';
import { CliError, commandLine, type Shell } from '../../shell/index.ts';
import { argsFor } from '../approvals/resolve.ts';

/** `--resolve` alone asks on the terminal; with a choice the command takes these lines in every hunk. */
export type Resolve = true | 'run_lines' | 'source_lines';

/**
 * Resolves the conflicts of a waiting publish.
 * @returns false when the person left the question open
 */
export async function resolveConflicts(
  deps: { shell: Shell; client: Client },
  approvalId: string,
  how: Resolve,
): Promise<boolean> {
  const { shell, client } = deps;
  const shown = await client.getApproval(approvalId);
  if (shown.kind !== 'conflict' || shown.status !== 'pending') return false;
  if (how === true && !shell.interactive) {
    throw new CliError('usage', 'Without a choice, --resolve needs a terminal.', {
      next: `Pass --resolve run_lines or --resolve source_lines, or choose: ${commandLine('approvals', 'resolve', approvalId)}`,
    });
  }
  if (how === true) await showWhole(deps, shown);
  else for (const line of await hunksText(deps, shown)) shell.say(line);
  const edit: Pick<Decide, 'args'> | undefined =
    how === true ? await askResolutions(deps, shown) : { args: argsFor(shown, new Map(), how) };
  if (edit === undefined) return false;
  await client.decideApproval(approvalId, { decision: 'edit', action_digest: shown.action_digest, ...edit });
  return true;
}
