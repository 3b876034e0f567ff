import { cancel, isCancel, outro, select } from '@clack/prompts';
import type { Client } from '@holdpoint/client';
import type { Approval } from '@holdpoint/contract/wire';
import { askDecision, showWhole } from '../../deciding/ask-decision.ts';
import { actionText, cut, oneLine } from '../../output/index.ts';
import { sayDamaged } from '../../output/layout.ts';
import type { Shell } from '../../shell/index.ts';

/** Lets the user decide open approvals until none is left or the user leaves. Needs a terminal. */
export async function inbox({ shell, client }: { shell: Shell; client: Client }): Promise<void> {
  for (let at = 0; ; at++) {
    const { data, damaged } = await client.listApprovals({ limit: 100 });
    if (at === 0) sayDamaged(shell, { damaged });
    if (data.length === 0) return outro('No open approvals.');
    const id = await select({ message: `${data.length} open`, options: data.map(optionOf), maxItems: 12 });
    if (isCancel(id)) return cancel('Nothing more was decided.');
    const approval = await client.getApproval(id);
    await showWhole({ shell, client }, approval);
    if ((await askDecision({ shell, client }, approval)) === 'left') return cancel('Nothing more was decided.');
  }
}

/** Shows an approval and asks for the decision. Needs a terminal. @returns whether the approval was decided */
export async function decideOn(deps: { shell: Shell; client: Client }, approval: Approval): Promise<boolean> {
  await showWhole(deps, approval);
  return (await askDecision(deps, approval)) === 'decided';
}

const optionOf = (approval: Approval) => ({
  value: approval.id,
  label: cut(actionText(approval), 70),
  hint: oneLine(`${approval.risk} risk, ${approval.run_title}`, 60),
});
