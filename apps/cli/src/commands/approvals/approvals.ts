import { approvalStatusSchema } from '@holdpoint/contract';
import type { Approval } from '@holdpoint/contract/wire';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { hunksText } from '../../deciding/conflicts.ts';
import { signPresence, viewersText } from '../../deciding/while-looking.ts';
import { approvalTable, approvalText, contextText } from '../../output/index.ts';
import { sayEndOfPage } from '../../output/layout.ts';
import { type ApiOptions, apiCommand, commandLine, count, type Shell } from '../../shell/index.ts';

/** Without a subcommand: the inbox on a terminal, else the list. */
export const approvalsCommand = (shell: Shell): Command =>
  apiCommand('approvals', 'list open approvals; on a terminal, decide them one by one').action(
    async ({ url, json }: ApiOptions) => {
      if (json || !shell.interactive) return listApprovals(shell, { limit: 50, url, json });
      const client = await shell.connect(url);
      const { inbox } = await import('./inbox.ts');
      await inbox({ shell, client });
    },
  );

interface ListOptions extends ApiOptions {
  status?: Approval['status'][];
  run?: string;
  tool?: string;
  rule?: string;
  label?: string;
  by?: string;
  decidedAfter?: string;
  decidedBefore?: string;
  order?: (typeof orders)[number];
  all?: true;
  limit: number;
  cursor?: string;
}

const orders = ['newest', 'oldest', 'expires_first'] as const;

export const listApprovalsCommand = (shell: Shell): Command =>
  apiCommand('list', 'list open approvals, or decided ones')
    .option('--status <status,…>', 'only approvals with this status', statuses)
    .addOption(new Option('--all', 'every status').conflicts('status'))
    .option('--run <run>', 'only approvals of this run and its sub-agents')
    .option('--tool <tool>', 'only approvals of calls of this tool')
    .option('--rule <name>', 'only approvals that this rule asks for')
    .option('--label <name=value>', 'only approvals of runs with this label')
    .option('--by <caller>', 'only approvals that this caller decided')
    .option('--decided-after <time>', 'only approvals decided after this time (RFC 3339)')
    .option('--decided-before <time>', 'only approvals decided before this time (RFC 3339)')
    .addOption(new Option('--order <order>', 'the order of the list').choices(orders))
    .option('--limit <n>', 'list at most this many', count, 50)
    .option('--cursor <cursor>', 'continue an earlier list')
    .action((options: ListOptions) => listApprovals(shell, options));

function statuses(text: string): Approval['status'][] {
  const parsed = approvalStatusSchema.array().safeParse(text.split(','));
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(`Allowed: ${approvalStatusSchema.options.join(', ')}.`);
}

async function listApprovals(
  shell: Shell,
  { url, json, run, all, decidedAfter, decidedBefore, ...rest }: ListOptions,
): Promise<void> {
  const client = await shell.connect(url);
  const status = all ? approvalStatusSchema.options : rest.status;
  const times = { decided_after: decidedAfter, decided_before: decidedBefore };
  const page = await client.listApprovals({ ...rest, ...times, run_id: run, status });
  if (json) return shell.printJson(page);
  const isOpen = status === undefined && rest.by === undefined && (decidedAfter ?? decidedBefore) === undefined;
  if (page.data.length === 0 && page.damaged === undefined && page.next_cursor === null) {
    return shell.say(isOpen ? 'No open approvals.' : 'No such approvals.');
  }
  // A short id is looked for among the open approvals only.
  const width = isOpen ? shell.tableWidth : undefined;
  for (const line of approvalTable(page.data, Date.now(), width)) shell.print(line);
  sayEndOfPage(shell, page);
}

export const showApprovalCommand = (shell: Shell) =>
  apiCommand('show', 'show one approval: the exact call and what it would change')
    .argument('<approval>', 'id of the approval')
    .action(async (approvalId: string, { url, json }: ApiOptions) => {
      const client = await shell.connect(url);
      const [approval, context, presence] = await Promise.all([
        client.getApproval(approvalId),
        client.getApprovalContext(approvalId),
        client.listPresence(),
      ]);
      if (json) {
        const viewers = presence.find(({ approval_id }) => approval_id === approval.id)?.viewers ?? [];
        return shell.printJson({ ...approval, context, viewers });
      }
      await signPresence({ shell, client }, approval);
      for (const line of approvalText(approval, { colors: shell.colors, now: Date.now() })) shell.print(line);
      for (const line of contextText(context, shell.colors)) shell.print(line);
      for (const line of await hunksText({ shell, client }, approval)) shell.print(line);
      if (approval.status !== 'pending') return;
      for (const line of viewersText(presence, approval)) shell.say(line);
      for (const decision of approval.allowed_decisions) shell.say(lineFor(decision, approval));
    });

function lineFor(decision: Approval['allowed_decisions'][number], { id, kind, action_digest }: Approval): string {
  const digest = `--digest ${action_digest}`;
  switch (decision) {
    case 'approve':
      return commandLine('approvals', decision, id, digest);
    case 'reject':
      return commandLine('approvals', decision, id);
    case 'edit':
      if (kind === 'conflict') {
        return commandLine('approvals', 'resolve', id, `--run-lines <path> --hunk <path>:<n>=<choice> ${digest}`);
      }
      return commandLine('approvals', decision, id, `--args '{…}' ${digest}`);
    case 'respond':
      return commandLine('approvals', decision, id, "'…'");
    default:
      return decision satisfies never;
  }
}
