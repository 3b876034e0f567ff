import { cancel, isCancel, outro, select } from '@clack/prompts';
import type { Client } from '@holdpoint/client';
import type { Approval } from '@holdpoint/contract/wire';
import { type Answer, askDecision, showWhole } from '../../deciding/ask-decision.ts';
import { whileLooking } from '../../deciding/while-looking.ts';
import { actionText, cut, oneLine } from '../../output/index.ts';
import { sayDamaged } from '../../output/layout.ts';
import type { Shell } from '../../shell/index.ts';

interface Deps {
  shell: Shell;
  client: Client;
}

/** Lets the user decide open approvals until none is left or the user leaves. Needs a terminal. */
export async function inbox({ shell, client }: Deps): Promise<void> {
  for (let at = 0; ; at++) {
    const { data, damaged } = await client.listApprovals({ limit: 100 });
    if (at === 0) sayDamaged(shell, { damaged });
    if (data.length === 0) return outro('No open approvals.');
    const id = await select({ message: `${data.length} open`, options: data.map(optionOf), maxItems: 12 });
    if (isCancel(id)) return cancel('Nothing more was decided.');
    const approval = await client.getApproval(id);
    if ((await showAndAsk({ shell, client }, approval)) === 'left') return cancel('Nothing more was decided.');
  }
}

/** Shows an approval and asks for the decision. Needs a terminal. @returns whether the approval was decided */
export const decideOn = async (deps: Deps, approval: Approval): Promise<boolean> =>
  (await showAndAsk(deps, approval)) === 'decided';

const showAndAsk = (deps: Deps, approval: Approval): Promise<Answer> =>
  whileLooking(deps, approval, async () => {
    await showWhole(deps, approval);
    return askDecision(deps, approval);
  });

const optionOf = (approval: Approval) => ({
  value: approval.id,
  label: cut(actionText(approval), 70),
  hint: oneLine(`${approval.risk} risk, ${approval.run_title}`, 60),
});
