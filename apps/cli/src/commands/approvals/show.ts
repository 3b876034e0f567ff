import type { Approval } from '@holdpoint/contract/wire';
import { approvalText } from '../../output/index.ts';
import { commandLine, type Shell } from '../../shell/index.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

export function showApprovalCommand(shell: Shell) {
  return apiCommand('show', 'show one approval: the exact call and what it would change')
    .argument('<approval>', 'id of the approval')
    .action(async (approvalId: string, { url, json }: ApiOptions) => {
      const approval = await (await shell.connect(url)).getApproval(approvalId);
      if (json) return shell.printJson(approval);
      for (const line of approvalText(approval, { colors: shell.colors, now: Date.now() })) shell.print(line);
      if (approval.status !== 'pending') return;
      for (const decision of approval.allowed_decisions) shell.say(lineFor(decision, approval));
    });
}

function lineFor(decision: Approval['allowed_decisions'][number], { id, kind, action_digest }: Approval): string {
  const digest = `--digest ${action_digest}`;
  switch (decision) {
    case 'approve':
      return commandLine('approvals', decision, id, digest);
    case 'reject':
      return commandLine('approvals', decision, id);
    case 'edit':
      if (kind === 'conflict') {
        return commandLine('approvals', 'resolve', id, `--run <path> --source <path> --text <path>=<file> ${digest}`);
      }
      return commandLine('approvals', decision, id, `--args '{…}' ${digest}`);
    case 'respond':
      return commandLine('approvals', decision, id, "'…'");
    default:
      return decision satisfies never;
  }
}
