import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@holdpoint/client';
import { type Eval, type EvalSet, evalSetSchema, putEvalSchema } from '@holdpoint/contract/wire';
import { schemaProblems } from '@holdpoint/policy';
import type { Command } from 'commander';
import { plain } from '../../output/index.ts';
import { fieldLine, parseYaml, readFileOrInput } from '../../plan/yaml-file.ts';
import { type ApiOptions, apiCommand, CliError, commandLine, exitCodes, type Shell } from '../../shell/index.ts';
import { evalText } from './eval-text.ts';

const fileHelp = `
The file of a set has the fields of PUT /v1/evals/{id} (docs/evals.md):
  name: parser bugs
  runs: [run_…, run_…]        # marked before: runs mark <run> good|bad
  budget: { max_cost_usd: 5 }`;

interface RunOptions extends ApiOptions {
  model?: string[];
  id?: string;
  wait: boolean;
}

const listed = (value: string, before: string[] = []): string[] => [...before, value];
const lookEveryMs = 1000;

export function runSetCommand(shell: Shell): Command {
  return apiCommand('run', 'repeat the runs of a set with other models, under one budget')
    .argument('<set>', 'YAML or JSON; - is stdin')
    .option('--model <provider/model>', 'a model; may be given several times (default: those of the set)', listed)
    .option('--id <eval>', 'id of the evaluation: with the same id and set it is begun once')
    .option('--no-wait', 'print the id and end')
    .addHelpText('after', fileHelp)
    .action(async (file: string, { url, json, model, id, wait }: RunOptions) => {
      const body = await readSet(shell, file, model);
      const client = await shell.connect(url);
      const { evaluation } = await client.putEval(id ?? `eval_${randomUUIDv7()}`, body);
      shell.say(`begun:    ${evaluation.id}`);
      shell.say(`show:     ${commandLine('eval', 'show', evaluation.id)}`);
      print(shell, wait ? await untilEnd(client, evaluation, shell) : evaluation, json);
    });
}

export function showEvalCommand(shell: Shell): Command {
  return apiCommand('show', 'print the marked runs of an evaluation and their repeats, side by side')
    .argument('<eval>', 'id of the evaluation')
    .option('--wait', 'until it has ended')
    .action(async (id: string, { url, json, wait = false }: ApiOptions & { wait?: boolean }) => {
      const client = await shell.connect(url);
      const evaluation = await client.getEval(id);
      print(shell, wait ? await untilEnd(client, evaluation, shell) : evaluation, json);
    });
}

/** Exit code 1 when a repeat did not pass. */
function print(shell: Shell, evaluation: Eval, json: boolean | undefined): void {
  const isOver = evaluation.ended_at !== null;
  if (isOver && evaluation.repeats.some(({ outcome }) => outcome !== 'passed')) shell.exitCode = exitCodes.failed;
  if (json) shell.printJson(evaluation);
  else for (const line of evalText(evaluation, shell.tableWidth)) shell.print(line);
}

async function untilEnd(client: Client, begun: Eval, shell: Shell): Promise<Eval> {
  let evaluation = begun;
  let said = 0;
  while (evaluation.ended_at === null) {
    await delay(lookEveryMs);
    evaluation = await client.getEval(begun.id);
    const done = evaluation.repeats.filter(({ status }) => status === 'done').length;
    if (done > said) shell.say(`done:     ${done} of ${evaluation.repeats.length}`);
    said = done;
  }
  return evaluation;
}

/** @throws CliError `usage` with the place of every mistake */
async function readSet(shell: Shell, file: string, models: string[] | undefined) {
  const next = 'Give the path of a set; `eval run --help` shows one.';
  const { text, name } = await readFileOrInput(shell, file, { code: 'usage', next });
  const { value, place } = parseYaml(text, name, refuse);
  const { success, error } = evalSetSchema.safeParse(value);
  if (!success)
    throw refuse(schemaProblems(evalSetSchema, error.issues, value).map((problem) => fieldLine(problem, place)));
  const set = value as EvalSet;
  const asked = { ...set, models: models ?? set.models };
  if (asked.models === undefined) throw refuse([`${plain(name)} names no models: give --model, or models in the set`]);
  const checked = putEvalSchema.safeParse(asked);
  if (!checked.success) throw refuse(checked.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`));
  return { ...asked, models: asked.models };
}

const refuse = (lines: string[]): CliError =>
  new CliError('usage', lines.join('\n'), { next: 'Correct the set and run it again; nothing was begun.' });
