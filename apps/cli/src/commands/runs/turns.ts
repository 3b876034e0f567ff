import type { Turn } from '@holdpoint/contract/wire';
import { counted, nameText, plain } from '../../output/index.ts';
import { sayEndOfPage } from '../../output/layout.ts';
import { type ApiOptions, apiCommand, count, type Shell } from '../../shell/index.ts';

interface TurnsOptions extends ApiOptions {
  newestFirst?: true;
  limit?: number;
  cursor?: string;
}

export const listTurnsCommand = (shell: Shell) =>
  apiCommand('turns', 'print what the model of a run said, turn by turn, with tokens and cost')
    .argument('<run>', 'id of the run')
    .option('--newest-first', 'begin with the last turn')
    .option('--limit <n>', 'list at most this many', count)
    .option('--cursor <cursor>', 'continue an earlier list')
    .action(async (runId: string, { url, json, newestFirst, limit, cursor }: TurnsOptions) => {
      const query = { limit, cursor, order: newestFirst ? ('desc' as const) : undefined };
      const page = await (await shell.connect(url)).listTurns(runId, query);
      if (json) return shell.printJson(page);
      if (page.data.length === 0 && page.damaged === undefined) shell.say('No turns yet.');
      for (const turn of page.data) for (const line of turnText(turn, shell)) shell.print(line);
      sayEndOfPage(shell, page);
    });

function turnText(turn: Turn, { colors }: Pick<Shell, 'colors'>): string[] {
  return [
    ...turn.messages.map(({ by, text }) => `${colors.bold(nameText(by))}: ${plain(text)}`),
    colors.bold(headOf(turn)),
    ...(turn.message === '' ? [] : [plain(turn.message)]),
    ...(turn.refused === null
      ? []
      : [`${counted(turn.refused.calls, 'call')} refused: ${plain(turn.refused.error.message)}`]),
    ...(turn.note === null ? [] : [`note to the model: ${plain(turn.note.text)}`]),
    '',
  ];
}

function headOf({ turn, planned_at, steps, usage, undone }: Turn): string {
  const used = usage && `${usage.input_tokens} tokens read, ${usage.output_tokens} written`;
  const cost = usage === null || usage.cost_usd === null ? undefined : `$${usage.cost_usd.toFixed(4)}`;
  const facts = [planned_at, steps.length > 0 && counted(steps.length, 'call'), used, cost, undone && 'undone'];
  return `turn ${turn}  ${facts.filter((fact) => typeof fact === 'string').join(', ')}`;
}
