import type { Client } from '@holdpoint/client';
import type { Approval } from '@holdpoint/contract/wire';
import { codeText } from '@holdpoint/readable';
import { type ApiOptions, apiCommand, CliError, commandLine, type Shell } from '../shell/index.ts';

/** Prints the whole of a shortened approval. @returns the digest for a decision on the whole */
export async function openContent(deps: { shell: Shell; client: Client }, shown: Approval): Promise<string> {
  const { shell, client } = deps;
  const { readable, patch, content_digest, action_digest } = await client.getApprovalContent(shown.id);
  if (action_digest !== shown.action_digest) {
    throw new CliError('not_decided', 'The call changed while it was read.', {
      next: `Read it again: ${commandLine('approvals', 'show', shown.id)}`,
    });
  }
  for (const line of contentLines({ readable, patch })) shell.say(line);
  return content_digest;
}

function contentLines({ readable, patch }: Pick<Content, 'readable' | 'patch'>): string[] {
  return [
    'The whole content',
    'arguments:',
    ...readable.args.split('\n'),
    ...(readable.preview === null ? [] : ['preview:', ...readable.preview.split('\n')]),
    ...(patch === null ? [] : ['patch:', ...codeText(patch).split('\n')]),
    'End of the content',
  ];
}

type Content = Awaited<ReturnType<Client['getApprovalContent']>>;

export const contentCommand = (shell: Shell) =>
  apiCommand('content', 'print the whole of an approval, however long, and the digest to approve it with')
    .argument('<approval>', 'id of the approval')
    .action(async (approvalId: string, { url, json }: ApiOptions) => {
      const content = await (await shell.connect(url)).getApprovalContent(approvalId);
      if (json) return shell.printJson(content);
      for (const line of contentLines(content)) shell.print(line);
      shell.say(`to approve: --digest ${content.action_digest} --content ${content.content_digest}`);
    });
