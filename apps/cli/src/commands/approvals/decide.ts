import { confirm, isCancel } from '@clack/prompts';
import type { Client } from '@holdpoint/client';
import type { Approval, Decide } from '@holdpoint/contract/wire';
import { hunksText } from '../../deciding/conflicts.ts';
import { decideOnPage, needsPasskey, orOnPage, type PageDeps } from '../../deciding/decide-on-page.ts';
import { openContent } from '../../deciding/open-content.ts';
import { whileLooking } from '../../deciding/while-looking.ts';
import { approvalText, contradictionText, proposalText } from '../../output/index.ts';
import { CliError, commandLine } from '../../shell/index.ts';

export interface DecideInput extends Omit<Decide, 'action_digest' | 'args'> {
  approvalId: string;
  /** With edit; may be computed from the approval. */
  args?: Args | ((shown: Approval) => Args);
  /** When undefined, the digest of the shown approval, after the user's confirmation. */
  digest?: string | undefined;
  json?: boolean | undefined;
}

interface Deps extends PageDeps {
  client: Client;
}

type Args = NonNullable<Decide['args']>;

/**
 * Shows the approval, then decides with its digest: if the call changes in between, the server refuses. A decision to let a call run needs the
 * digest from the user, or a confirmation on a terminal.
 *
 * @throws CliError `usage` without either
 */
export async function decide(deps: Deps, input: DecideInput): Promise<void> {
  const { shell, client } = deps;
  const { approvalId, digest, json, args, ...decision } = input;
  const shown = await client.getApproval(approvalId);
  if (!json) for (const line of approvalText(shown, { colors: shell.errColors, now: Date.now() })) shell.say(line);
  if (!json) for (const line of await hunksText(deps, shown)) shell.say(line);
  refuseDisallowed(shown, decision.decision);
  if (needsPasskey(shown, decision.decision)) throw decideOnPage(deps, shown);
  const given = typeof args === 'function' ? args(shown) : args;
  const remembers = decision.remember !== undefined && decision.remember !== 'none';
  if (remembers && !json) for (const line of proposalText(shown, decision.decision)) shell.say(line);
  const mustOpen = decision.decision === 'approve' && shown.cut !== null && shown.status === 'pending';
  // A script does not read the printed lines: the script opens the content first.
  const content_digest = decision.content_digest ?? (mustOpen && !json ? await openContent(deps, shown) : undefined);
  if (digest === undefined && letsRun(decision.decision) && !(await confirmed(deps, input, shown))) {
    return shell.say('Nothing was decided.');
  }
  const decided = await client
    .decideApproval(approvalId, {
      ...decision,
      args: given,
      content_digest,
      action_digest: digest ?? shown.action_digest,
    })
    .catch(orOnPage(deps, shown));
  if (json) return shell.printJson(decided);
  shell.print(`${decided.id} is ${decided.status}`);
  if (remembers) for (const line of contradictionText(decided, decision.decision)) shell.say(line);
  if (decided.status === 'approved' && decided.step_id !== null) {
    shell.say(`calls like it: ${commandLine('approvals', 'pattern', decided.id)}`);
  }
  shell.say(`follow:   ${commandLine('watch', decided.run_id)}`);
}

/** The server checks this, too; the check here makes a usage error. */
function refuseDisallowed({ allowed_decisions: allowed, status }: Approval, decision: Decide['decision']): void {
  if (status !== 'pending' || allowed.includes(decision)) return;
  throw new CliError('usage', `This approval does not allow ${decision}.`, {
    next: `It allows: ${allowed.join(', ')}.`,
  });
}

const letsRun = (decision: Decide['decision']): boolean => decision === 'approve' || decision === 'edit';

/** Asks the user, who has just read the approval. */
async function confirmed(deps: Deps, { decision, json }: DecideInput, shown: Approval): Promise<boolean> {
  const { shell } = deps;
  if (shown.status !== 'pending') return true; // The server's refusal has the decision.
  if (!shell.interactive || json) {
    throw new CliError(
      'usage',
      `Without --digest, ${decision} needs a terminal, where a person reads the call first.`,
      { next: `Read it with \`${commandLine('approvals', 'show', shown.id)}\`, then pass its digest with --digest.` },
    );
  }
  const question = { message: `${decision} exactly this?`, initialValue: false };
  const answer = await whileLooking(deps, shown, () => confirm(question));
  return !isCancel(answer) && answer;
}
