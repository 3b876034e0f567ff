import { Command } from 'commander';
import { plain, table } from '../../output/index.ts';
import { sayDamaged } from '../../output/layout.ts';
import { type ApiOptions, apiCommand, count, type Shell } from '../../shell/index.ts';
import { evalText, runSetCommand, scoreOf, showEvalCommand } from './run-set.ts';

export function evalGroup(shell: Shell): Command {
  const evals = new Command('eval').description('repeat marked runs with other models, side by side');
  evals.addCommand(runSetCommand(shell));
  evals.addCommand(listEvalsCommand(shell));
  evals.addCommand(showEvalCommand(shell));
  evals.addCommand(cancelEvalCommand(shell));
  return evals;
}

function listEvalsCommand(shell: Shell): Command {
  return apiCommand('list', 'list evaluations, newest first')
    .option('--limit <number>', 'at most this many', count)
    .action(async ({ url, json, limit }: ApiOptions & { limit?: number }) => {
      const data = await (await shell.connect(url)).listEvals({
        limit,
        onDamaged: (damaged) => sayDamaged(shell, { damaged }),
      });
      if (json) return shell.printJson({ data });
      const rows = data.map((one) => [
        ...[one.id, plain(one.name), one.status, one.created_at.slice(0, 16)],
        ...[scoreOf(one.repeats), `$${one.spent.cost_usd.toFixed(2)}`, one.models.map(plain).join(', ')],
      ]);
      const head = [{ id: 'EVAL' }, { text: 'SET' }, 'STATUS', 'BEGUN (UTC)', 'PASSED', 'COST', { text: 'MODELS' }];
      for (const line of table(head, rows, shell.tableWidth)) shell.print(line);
    });
}

function cancelEvalCommand(shell: Shell): Command {
  return apiCommand('cancel', 'cancel an evaluation and its runs')
    .argument('<eval>', 'id of the evaluation')
    .action(async (id: string, { url, json }: ApiOptions) => {
      const evaluation = await (await shell.connect(url)).cancelEval(id);
      if (json) return shell.printJson(evaluation);
      for (const line of evalText(evaluation, shell.tableWidth)) shell.print(line);
    });
}
