import { isIP } from 'node:net';
import { confirm, isCancel } from '@clack/prompts';
import { ApiError, type Client } from '@holdpoint/client';
import type { Approval, Decide } from '@holdpoint/contract/wire';
import { findConnection } from '../../connection.ts';
import { hunksText } from '../../deciding/conflicts.ts';
import { openContent } from '../../deciding/open-content.ts';
import { approvalText, contradictionText, proposalText } from '../../output/index.ts';
import { CliError, commandLine, type Shell } from '../../shell/index.ts';

export interface DecideInput extends Omit<Decide, 'action_digest' | 'args'> {
  approvalId: string;
  /** With edit; may be computed from the approval. */
  args?: Args | ((shown: Approval) => Args);
  /** When undefined, the digest of the shown approval, after the user's confirmation. */
  digest?: string | undefined;
  json?: boolean | undefined;
}

type Args = NonNullable<Decide['args']>;

/**
 * Shows the approval, then decides with its digest: if the call changes in between, the server refuses. A decision to let a call run needs the
 * digest from the user, or a confirmation on a terminal.
 *
 * @throws CliError `usage` without either
 */
export async function decide(
  deps: { shell: Shell; client: Client; url?: string | undefined },
  input: DecideInput,
): Promise<void> {
  const { shell, client } = deps;
  const { approvalId, digest, json, args, ...decision } = input;
  const shown = await client.getApproval(approvalId);
  if (!json) for (const line of approvalText(shown, { colors: shell.errColors, now: Date.now() })) shell.say(line);
  if (!json) for (const line of await hunksText(deps, shown)) shell.say(line);
  refuseDisallowed(shown, decision.decision);
  if (needsPasskey(shown, decision.decision)) throw decideOnPage(deps, approvalId);
  const given = typeof args === 'function' ? args(shown) : args;
  const remembers = decision.remember !== undefined && decision.remember !== 'none';
  if (remembers && !json) for (const line of proposalText(shown, decision.decision)) shell.say(line);
  const mustOpen = decision.decision === 'approve' && shown.cut !== null && shown.status === 'pending';
  // A script does not read the printed lines: the script opens the content first.
  const content_digest = decision.content_digest ?? (mustOpen && !json ? await openContent(deps, shown) : undefined);
  if (digest === undefined && letsRun(decision.decision) && !(await confirmed(shell, input, shown))) {
    return shell.say('Nothing was decided.');
  }
  const decided = await client
    .decideApproval(approvalId, {
      ...decision,
      args: given,
      content_digest,
      action_digest: digest ?? shown.action_digest,
    })
    .catch((error: unknown) => {
      // An edit can need a passkey where the call as it was asked needs none.
      throw error instanceof ApiError && error.code === 'passkey_required' ? decideOnPage(deps, approvalId) : error;
    });
  if (json) return shell.printJson(decided);
  shell.print(`${decided.id} is ${decided.status}`);
  if (remembers) for (const line of contradictionText(decided, decision.decision)) shell.say(line);
  if (decided.status === 'approved' && decided.step_id !== null) {
    shell.say(`calls like it: ${commandLine('approvals', 'pattern', decided.id)}`);
  }
  shell.say(`follow:   ${commandLine('watch', decided.run_id)}`);
}

const needsPasskey = ({ status, confirm }: Approval, decision: Decide['decision']): boolean =>
  status === 'pending' && confirm === 'passkey' && decision !== 'reject';

/** A terminal has no passkeys. A page has some only at a name, so an address of this machine becomes its name. */
function decideOnPage({ shell, url }: { shell: Shell; url?: string | undefined }, id: string): CliError {
  const address = new URL(findConnection(shell.config, url).url);
  if (isIP(address.hostname.replace(/^\[|\]$/g, '')) !== 0) address.hostname = 'localhost';
  const page = new URL(`/approvals/${id}`, address);
  const link = commandLine('open', id, '--url', address.origin);
  return new CliError('passkey_required', `The rule that holds the call of ${id} asks for a passkey.`, {
    next: `Decide in a browser, at ${page}; to log in there: ${link}. Nothing was decided.`,
  });
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
async function confirmed(shell: Shell, { decision, json }: DecideInput, shown: Approval): Promise<boolean> {
  if (shown.status !== 'pending') return true; // The server's refusal has the decision.
  if (!shell.interactive || json) {
    throw new CliError(
      'usage',
      `Without --digest, ${decision} needs a terminal, where a person reads the call first.`,
      { next: `Read it with \`${commandLine('approvals', 'show', shown.id)}\`, then pass its digest with --digest.` },
    );
  }
  const answer = await confirm({ message: `${decision} exactly this?`, initialValue: false });
  return !isCancel(answer) && answer;
}
