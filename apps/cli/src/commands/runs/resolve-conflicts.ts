import type { Client } from '@holdpoint/client';
import type { Approval, Decide } from '@holdpoint/contract/wire';
import { showWhole } from '../../deciding/ask-decision.ts';
import { askResolutions } from '../../deciding/ask-resolutions.ts';
import { hunksText } from '../../deciding/conflicts.ts';
import { decideOnPage, needsPasskey, type PageDeps } from '../../deciding/decide-on-page.ts';
import { whileLooking } from '../../deciding/while-looking.ts';
import { CliError, commandLine } from '../../shell/index.ts';
import { argsFor } from '../approvals/resolve.ts';

/** `--resolve` alone asks on the terminal; with a choice the command takes these lines in every hunk. */
export type Resolve = true | 'run_lines' | 'source_lines';

interface Deps extends PageDeps {
  client: Client;
}

/**
 * Resolves the conflicts of a waiting publish.
 * @returns false when the person left the question open
 * @throws CliError `passkey_required`
 */
export async function resolveConflicts(deps: Deps, approvalId: string, how: Resolve): Promise<boolean> {
  const { shell, client } = deps;
  const shown = await client.getApproval(approvalId);
  if (shown.kind !== 'conflict' || shown.status !== 'pending') return false;
  if (needsPasskey(shown, 'edit')) throw decideOnPage(deps, shown);
  if (how === true && !shell.interactive) {
    throw new CliError('usage', 'Without a choice, --resolve needs a terminal.', {
      next: `Pass --resolve run_lines or --resolve source_lines, or choose: ${commandLine('approvals', 'resolve', approvalId)}`,
    });
  }
  const edit: Pick<Decide, 'args'> | undefined =
    how === true ? await whileLooking(deps, shown, () => showAndAsk(deps, shown)) : await linesOf(deps, shown, how);
  if (edit === undefined) return false;
  await client.decideApproval(approvalId, { decision: 'edit', action_digest: shown.action_digest, ...edit });
  return true;
}

async function showAndAsk(deps: Deps, shown: Approval): Promise<Pick<Decide, 'args'> | undefined> {
  await showWhole(deps, shown);
  return askResolutions(deps, shown);
}

async function linesOf(deps: Deps, shown: Approval, how: Exclude<Resolve, true>): Promise<Pick<Decide, 'args'>> {
  for (const line of await hunksText(deps, shown)) deps.shell.say(line);
  return { args: argsFor(shown, new Map(), how) };
}
