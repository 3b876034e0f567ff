import { confirm, isCancel } from '@clack/prompts';
import type { Client } from '@holdpoint/client';
import type { Approval, DecideMany } from '@holdpoint/contract/wire';
import { Option } from 'commander';
import { approvalTable, oneLine } from '../../output/index.ts';
import { type ApiOptions, apiCommand, CliError, commandLine, type Shell, seconds } from '../../shell/index.ts';

interface ManyOptions extends ApiOptions {
  all?: true;
  decision: DecideMany['decision'];
  run?: string;
  tool?: string;
  rule?: string;
  label?: string;
  olderThan?: number;
  message?: string;
  yes?: true;
}

const mostListed = 1000;

/** Lists the approvals to decide, and asks; each approval is decided with the listed digest. */
export const decideManyCommand = (shell: Shell) =>
  apiCommand('decide', 'decide on several open approvals at once, after they were listed')
    .addOption(new Option('--all', 'all that fit the filters').makeOptionMandatory())
    .addOption(
      new Option('--decision <decision>', 'what to decide')
        .choices(['approve', 'reject', 'respond'])
        .makeOptionMandatory(),
    )
    .option('--run <run>', 'only approvals of this run and its sub-agents')
    .option('--tool <name>', 'only calls of this tool')
    .option('--rule <name>', 'only those that a rule with this name asks for')
    .option('--label <name=value>', 'only those of runs with this label')
    .option('--older-than <seconds>', 'only those that are this old', seconds)
    .option('--message <text>', 'reason or answer, for the planner')
    .option('--yes', 'do not ask')
    .action(async (options: ManyOptions) => {
      const client = await shell.connect(options.url);
      const approvals = await listAll(client, options);
      const { decision, message, json, yes } = options;
      const open = approvals.filter(({ allowed_decisions: allowed }) => allowed.includes(decision));
      if (!json) for (const line of approvalTable(open, Date.now())) shell.say(line);
      if (open.length === 0) return json ? shell.printJson({ data: [] }) : shell.say('No open approvals.');
      if (!yes && !(await confirmed(shell, json, `${decision} these ${open.length}?`))) {
        return shell.say('Nothing was decided.');
      }
      const items = open.map(({ id, action_digest }) => ({ approval_id: id, action_digest }));
      const data = await client.decideApprovals({ decision, message, items });
      if (json) return shell.printJson({ data });
      for (const { approval_id, status, problem } of data) {
        shell.print(
          `${approval_id} ${problem === null ? `is ${status}` : oneLine(`${problem.code}: ${problem.detail}`)}`,
        );
      }
      const refused = data.filter(({ problem }) => problem !== null).length;
      if (refused > 0) throw new CliError('not_decided', `${refused} of ${data.length} approvals were not decided.`);
    });

async function listAll(client: Client, { run, tool, rule, label, olderThan }: ManyOptions): Promise<Approval[]> {
  const older_than_s = olderThan === undefined ? undefined : Math.round(olderThan / 1000);
  const found: Approval[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listApprovals({ run_id: run, tool, rule, label, older_than_s, limit: 200, cursor });
    found.push(...page.data);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && found.length < mostListed);
  return found.slice(0, mostListed);
}

async function confirmed(shell: Shell, json: boolean | undefined, message: string): Promise<boolean> {
  if (!shell.interactive || json) {
    throw new CliError('usage', 'Without --yes this needs a terminal, where a person reads the list first.', {
      next: `Read the list with \`${commandLine('approvals', 'list')}\`, then pass --yes.`,
    });
  }
  const answer = await confirm({ message, initialValue: false });
  return !isCancel(answer) && answer;
}
