import type { Approval } from '@holdpoint/contract/wire';

/** Why an approval cannot be decided together with the first that was chosen; undefined: it can. */
export function whyNotInBulk(approval: Approval, first: Approval | undefined): string | undefined {
  if (approval.step_id === null || approval.kind !== 'action') return 'This is decided alone';
  if (approval.confirm === 'passkey') return 'It needs your passkey: decide it alone';
  if (approval.cut !== null) return 'It is too long to be shown in a list: decide it alone';
  if (first === undefined || first.action.tool === approval.action.tool) return undefined;
  return `Calls of one tool are decided together: ${first.action.tool} is chosen`;
}
