import type { Command } from 'commander';
import { hunksCommand } from '../../deciding/conflicts.ts';
import { contentCommand } from '../../deciding/open-content.ts';
import type { Shell } from '../../shell/index.ts';
import { approvalsCommand, listApprovalsCommand, showApprovalCommand } from './approvals.ts';
import { decideManyCommand } from './decide-many.ts';
import { approveCommand, delegateCommand, editCommand, rejectCommand, respondCommand } from './decisions.ts';
import { patternCommand } from './pattern.ts';
import { previewApprovalCommand } from './preview.ts';
import { resolveCommand } from './resolve.ts';

export function approvalsGroup(shell: Shell): Command {
  const approvals = approvalsCommand(shell);
  approvals.addCommand(listApprovalsCommand(shell));
  approvals.addCommand(showApprovalCommand(shell));
  approvals.addCommand(previewApprovalCommand(shell));
  approvals.addCommand(approveCommand(shell));
  approvals.addCommand(rejectCommand(shell));
  approvals.addCommand(editCommand(shell));
  approvals.addCommand(resolveCommand(shell));
  approvals.addCommand(hunksCommand(shell));
  approvals.addCommand(respondCommand(shell));
  approvals.addCommand(contentCommand(shell));
  approvals.addCommand(delegateCommand(shell));
  approvals.addCommand(decideManyCommand(shell));
  approvals.addCommand(patternCommand(shell));
  // `approvals` is a full command, so its options may stand before a subcommand.
  approvals.hook('preAction', (parent, action) => {
    for (const [name, value] of Object.entries(parent.opts())) {
      if (action.getOptionValue(name) === undefined) action.setOptionValue(name, value);
    }
  });
  return approvals;
}
