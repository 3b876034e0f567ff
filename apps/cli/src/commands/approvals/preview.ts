import { approvalText } from '../../output/index.ts';
import { type ApiOptions, apiCommand, commandLine, type Shell } from '../../shell/index.ts';

export const previewApprovalCommand = (shell: Shell) =>
  apiCommand('preview', 'run a held call on a throw-away copy and show the result, which an approval then applies')
    .argument('<approval>', 'id of the approval')
    .action(async (approvalId: string, { url, json }: ApiOptions) => {
      const client = await shell.connect(url);
      const approval = await client.previewApproval(approvalId);
      if (json) return shell.printJson(approval);
      for (const line of approvalText(approval, { colors: shell.colors, now: Date.now() })) shell.print(line);
      if (approval.preview_request?.status === 'running') {
        shell.say(`The call still runs. To wait for its result: ${commandLine('approvals', 'preview', approval.id)}`);
      } else if (approval.preview_request === null && approval.status === 'pending') {
        const approve = commandLine('approvals', 'approve', approval.id, '--digest', approval.action_digest);
        shell.say(`To apply exactly this: ${approve}`);
      }
    });
