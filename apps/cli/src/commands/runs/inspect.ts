import type { Client } from '@holdpoint/client';
import { runStatusSchema } from '@holdpoint/contract';
import type { Page, Run, Step } from '@holdpoint/contract/wire';
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { allSteps } from '../../find-named.ts';
import * as output from '../../output/index.ts';
import { sayDamaged, sayEndOfPage } from '../../output/layout.ts';
import { type ApiOptions, apiCommand, count, exitCodes, type Shell } from '../../shell/index.ts';

interface ListOptions extends ApiOptions {
  status?: z.infer<typeof statusesSchema>;
  label?: string;
  title?: string;
  createdAfter?: string;
  createdBefore?: string;
  limit: number;
  cursor?: string;
}

export const listRunsCommand = (shell: Shell): Command =>
  apiCommand('list', 'list runs, newest first')
    .option('--status <status,…>', 'only runs with this status', statuses)
    .option('--label <name=value>', 'only runs with this label')
    .option('--title <text>', 'only runs with this text in the title')
    .option('--created-after <time>', 'only runs created after this time (RFC 3339)')
    .option('--created-before <time>', 'only runs created before this time (RFC 3339)')
    .option('--limit <n>', 'list at most this many', count, 20)
    .option('--cursor <cursor>', 'continue an earlier list')
    .action(async ({ url, json, limit, cursor, label, createdAfter, createdBefore, ...rest }: ListOptions) => {
      const client = await shell.connect(url);
      const times = { created_after: createdAfter, created_before: createdBefore };
      const filter = { ...rest, ...times, label: label?.replace('=', ':') };
      const page = await fullPage(client, { ...filter, limit, cursor });
      if (json) return shell.printJson(page);
      if (page.data.length === 0 && page.damaged === undefined) return shell.say('No runs.');
      // A short id is looked for among the latest runs only.
      const width = cursor === undefined ? shell.tableWidth : undefined;
      for (const line of output.runTable(page.data, { colors: shell.colors, now: Date.now(), width }))
        shell.print(line);
      sayEndOfPage(shell, page);
    });

/** A page of a search by title may be short: the next ones fill it. */
async function fullPage(client: Client, query: NonNullable<Parameters<Client['listRuns']>[0]>): Promise<Page<Run>> {
  const page = await client.listRuns(query);
  const { limit = 0 } = query;
  const missing = limit - page.data.length - (page.damaged?.length ?? 0);
  if (missing <= 0 || page.next_cursor === null) return page;
  const next = await fullPage(client, { ...query, limit: missing, cursor: page.next_cursor });
  const damaged = [...(page.damaged ?? []), ...(next.damaged ?? [])];
  return { ...next, data: [...page.data, ...next.data], damaged: damaged.length === 0 ? undefined : damaged };
}

const statusesSchema = z.array(runStatusSchema);

function statuses(text: string): z.infer<typeof statusesSchema> {
  const parsed = statusesSchema.safeParse(text.split(','));
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(`Allowed: ${runStatusSchema.options.join(', ')}.`);
}

export const showRunCommand = (shell: Shell): Command =>
  apiCommand('show', 'show one run')
    .alias('get')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, { url, json }: ApiOptions) => {
      const run = await (await shell.connect(url)).getRun(runId);
      if (json) return shell.printJson(run);
      for (const line of output.runText(run, { colors: shell.colors, now: Date.now() })) shell.print(line);
    });

/** `runs steps` and `steps list`. */
export const listStepsCommand = (shell: Shell, name: 'steps' | 'list'): Command =>
  apiCommand(name, 'list the steps of a run in planned order')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, { url, json }: ApiOptions) => {
      const steps = await allSteps(await shell.connect(url), runId, (page) => sayDamaged(shell, page));
      if (json) return shell.printJson({ data: steps.map(plainStep) });
      if (steps.length === 0) return shell.say('No steps yet.');
      const head = ['#', 'TURN', { id: 'STEP' }, { text: 'NAME' }, { text: 'CALL' }, 'STATUS', { text: 'TOOK' }];
      for (const line of output.table(head, steps.map(rowOf), shell.tableWidth)) shell.print(line);
    });

/** Arguments and result as `GET /v1/steps/{id}` has them. The list has only the beginning of a large value: then null, and `args_cut` or `result_cut`. */
function plainStep({ args, result, ...step }: Step): object {
  return { ...step, ...plainValue('args', args), ...plainValue('result', result) };
}

function plainValue(name: string, payload: Step['args'] | null): object {
  if (payload === null) return { [name]: null };
  if ('json' in payload) return { [name]: payload.json };
  return { [name]: null, [`${name}_cut`]: { bytes: payload.bytes, preview: payload.preview } };
}

const rowOf = (step: Step): string[] => [
  step.number?.toString() ?? '-',
  String(step.turn),
  step.id,
  output.oneLine(step.name ?? '', 64),
  `${output.nameText(step.tool)} ${output.shortArgs(output.payloadValue(step.args), 40)}`.trim(),
  `${step.status}${step.attempts > 1 ? ` (attempt ${step.attempts})` : ''}`,
  [
    step.duration_ms === null ? '' : output.duration(step.duration_ms),
    step.error === null ? '' : output.oneLine(`${step.error.code}: ${step.error.message}`, 80),
  ]
    .filter((text) => text !== '')
    .join('  '),
];

export const readValidationCommand = (shell: Shell): Command =>
  apiCommand('validation', 'show the result and output of each validator at the last publish')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, { url, json }: ApiOptions) => {
      const validation = await (await shell.connect(url)).getValidation(runId);
      if (!validation.passed) shell.exitCode = exitCodes.failed;
      if (json) return shell.printJson(validation);
      for (const line of output.validationText(validation, shell.colors)) shell.print(line);
    });
