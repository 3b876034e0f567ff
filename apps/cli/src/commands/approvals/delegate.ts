import { type ApiOptions, apiCommand, type Shell } from '../../shell/index.ts';

export const delegateCommand = (shell: Shell) =>
  apiCommand('delegate', 'let another caller decide on one approval in your place')
    .argument('<approval>', 'id of the approval')
    .requiredOption('--to <name>', 'name of the caller')
    .action(async (approvalId: string, { url, json, to }: ApiOptions & { to: string }) => {
      const approval = await (await shell.connect(url)).delegateApproval(approvalId, { to });
      if (json) return shell.printJson(approval);
      shell.print(`${to} may decide on ${approval.id}`);
    });
