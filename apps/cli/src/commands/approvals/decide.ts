import type { Client } from '@holdpoint/client/client';
import type { Approval, Decide } from '@holdpoint/client/wire/approval';
import { commandLine } from '../../command-name.ts';
import { CliError } from '../../errors.ts';
import { approvalText } from '../../output/approval-text.ts';
import type { Shell } from '../../shell.ts';

export interface DecideInput extends Omit<Decide, 'action_digest' | 'args'> {
  approvalId: string;
  /** With edit; may follow from what is shown. */
  args?: Args | ((shown: Approval) => Args);
  /** Undefined: of what is shown now. */
  digest?: string | undefined;
  json?: boolean | undefined;
}

type Args = NonNullable<Decide['args']>;

/** Shows exactly what the decision is about, then decides with that digest: if the call changes in between, the server refuses. */
export async function decide(deps: { shell: Shell; client: Client }, input: DecideInput): Promise<void> {
  const { shell, client } = deps;
  const { approvalId, digest, json, args, ...decision } = input;
  const shown = await client.getApproval(approvalId);
  if (!json) for (const line of approvalText(shown, { colors: shell.errColors, now: Date.now() })) shell.say(line);
  refuseOther(shown, decision.decision);
  const decided = await client.decideApproval(approvalId, {
    ...decision,
    ...(args === undefined ? {} : { args: typeof args === 'function' ? args(shown) : args }),
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
