import { confirm, isCancel } from '@clack/prompts';
import type { Client } from '@holdpoint/client/client';
import type { Approval, Decide } from '@holdpoint/contract/wire';
import { commandLine } from '../../command-name.ts';
import { CliError } from '../../errors.ts';
import { approvalText } from '../../output/approval-text.ts';
import type { Shell } from '../../shell.ts';

export interface DecideInput extends Omit<Decide, 'action_digest' | 'args'> {
  approvalId: string;
  /** With edit; may follow from what is shown. */
  args?: Args | ((shown: Approval) => Args);
  /** Undefined: of what is shown now, once the person has said yes to it. */
  digest?: string | undefined;
  json?: boolean | undefined;
}

type Args = NonNullable<Decide['args']>;

/**
 * Shows exactly what the decision is about, then decides with that digest: if the call changes in between, the server refuses. What lets a
 * call run needs the digest that a person has read, or a yes after reading.
 *
 * @throws CliError `usage` when there is neither
 */
export async function decide(deps: { shell: Shell; client: Client }, input: DecideInput): Promise<void> {
  const { shell, client } = deps;
  const { approvalId, digest, json, args, ...decision } = input;
  const shown = await client.getApproval(approvalId);
  if (!json) for (const line of approvalText(shown, { colors: shell.errColors, now: Date.now() })) shell.say(line);
  refuseOther(shown, decision.decision);
  const given = typeof args === 'function' ? args(shown) : args;
  if (digest === undefined && letsRun(decision.decision) && !(await confirmed(shell, input, shown))) {
    return shell.say('Nothing was decided.');
  }
  const decided = await client.decideApproval(approvalId, {
    ...decision,
    ...(given === undefined ? {} : { args: given }),
    action_digest: digest ?? shown.action_digest,
  });
  if (json) return shell.printJson(decided);
  shell.print(`${decided.id} is ${decided.status}`);
  shell.say(`follow:   ${commandLine('watch', decided.run_id)}`);
}

/** Said here, so that a script's usage error is told as one. The server checks it, too. */
function refuseOther({ allowed_decisions: allowed, status }: Approval, decision: Decide['decision']): void {
  if (status !== 'pending' || allowed.includes(decision)) return;
  throw new CliError('usage', `This approval does not take ${decision}.`, { next: `It takes: ${allowed.join(', ')}.` });
}

const letsRun = (decision: Decide['decision']): boolean => decision === 'approve' || decision === 'edit';

/** Asks the person who has just read what is shown; without a terminal there is none. */
async function confirmed(shell: Shell, { decision, json }: DecideInput, shown: Approval): Promise<boolean> {
  if (shown.status !== 'pending') return true; // the server's refusal says how it was decided
  if (!shell.interactive || json) {
    throw new CliError(
      'usage',
      `Without --digest, ${decision} needs a terminal, so that a person can read the call first.`,
      {
        next: `Look with \`${commandLine('approvals', 'show', shown.id)}\`, then give the digest that it shows with --digest.`,
      },
    );
  }
  const answer = await confirm({ message: `${decision} exactly this?`, initialValue: false });
  return !isCancel(answer) && answer;
}
