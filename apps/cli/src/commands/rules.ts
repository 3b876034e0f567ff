import type { RememberedRule } from '@holdpoint/contract/wire';
import { nameText, oneLine } from '@holdpoint/readable';
import { Command } from 'commander';
import { shortArgs, table } from '../output/index.ts';
import { sayEndOfPage } from '../output/layout.ts';
import { type ApiOptions, apiCommand, count, type Shell } from '../shell/index.ts';

export function rulesGroup(shell: Shell): Command {
  const rules = new Command('rules').description(
    'calls that are approved or rejected without a question, because a person said so',
  );
  rules.addCommand(listRulesCommand(shell));
  rules.addCommand(revokeRuleCommand(shell));
  return rules;
}

interface ListOptions extends ApiOptions {
  run?: string;
  limit?: number;
  cursor?: string;
}

export const listRulesCommand = (shell: Shell) =>
  apiCommand('list', 'list the calls that are decided without a question, newest first')
    .option('--run <run>', 'only rules that were made in this run')
    .option('--limit <n>', 'list at most this many', count)
    .option('--cursor <cursor>', 'continue an earlier list')
    .action(async ({ url, json, run, limit, cursor }: ListOptions) => {
      const page = await (await shell.connect(url)).listRules({ run_id: run, limit, cursor });
      if (json) return shell.printJson(page);
      if (page.data.length === 0 && page.damaged === undefined) return shell.say('No remembered rules.');
      const head = [{ id: 'RULE' }, 'DECISION', { id: 'HOLDS IN' }, { text: 'CALL' }, { text: 'MADE BY' }, 'EXPIRES'];
      for (const line of table(head, page.data.map(rowOf), shell.tableWidth)) shell.print(line);
      sayEndOfPage(shell, page);
    });

const rowOf = (rule: RememberedRule): string[] => [
  rule.id,
  rule.decision,
  rule.scope === 'run' ? rule.run_id : 'all runs',
  `${nameText(rule.tool)} ${shortArgs(rule.args)}`,
  oneLine(rule.created_by, 40),
  rule.expires_at.slice(0, 16),
];

export const revokeRuleCommand = (shell: Shell) =>
  apiCommand('revoke', 'ask about the call again from now on')
    .argument('<rule>', 'id of the rule')
    .action(async (id: string, { url, json }: ApiOptions) => {
      const rule = await (await shell.connect(url)).revokeRule(id);
      if (json) return shell.printJson(rule);
      shell.print(`${rule.id} is revoked`);
    });
