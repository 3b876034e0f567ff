import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@holdpoint/client';
import type { EvalOriginal, EvalRepeat } from '@holdpoint/contract';
import { type Eval, type EvalSet, evalSetSchema, putEvalSchema } from '@holdpoint/contract/wire';
import { schemaProblems } from '@holdpoint/policy';
import type { Command } from 'commander';
import { plain, table } from '../../output/index.ts';
import { fieldLine, parseYaml, readFileOrInput } from '../../plan/yaml-file.ts';
import { type ApiOptions, apiCommand, CliError, commandLine, exitCodes, type Shell } from '../../shell/index.ts';

/** `3/5`: of the repeats that are done. */
export const scoreOf = (repeats: readonly EvalRepeat[]): string =>
  `${repeats.filter(({ outcome }) => outcome === 'passed').length}/${repeats.length}`;

/** The marked runs and their repeats, side by side, then one line for each model. */
export function evalText({ originals, repeats, ...evaluation }: Eval, width: number | undefined): string[] {
  const { id, name, status, spent, budget, models } = evaluation;
  const rows = originals.flatMap((original) => [
    rowOf(original, [original.run_id, `${original.mark}, ${original.status}`, original.model ?? '-']),
    ...repeats.filter(({ of }) => of === original.run_id).map((one) => rowOf(one, aboutRepeat(one))),
  ]);
  const head = [{ id: 'RUN' }, 'RESULT', { text: 'MODEL' }, 'COST', 'STEPS', 'TURNS', 'HOLDS', { text: 'REASON' }];
  const cost = budget.max_cost_usd === undefined ? '' : ` of $${budget.max_cost_usd}`;
  const steps = budget.max_steps === undefined ? '' : ` of ${budget.max_steps}`;
  return [
    `${id} ${plain(name)}: ${status}, $${spent.cost_usd.toFixed(4)}${cost}, ${spent.steps} steps${steps}`,
    ...table(head, rows, width),
    ...models.map((model) => sumOf(model, repeats)),
  ];
}

const aboutRepeat = ({ run_id, status, outcome, model }: EvalRepeat): string[] => [
  run_id ?? '(not begun)',
  outcome ?? status,
  model,
];

function rowOf(one: EvalOriginal | EvalRepeat, about: readonly string[]): string[] {
  const { cost_usd, steps, turns, holds } = one;
  const why = 'of' in one ? one.reason : one.note;
  return [...about.map(plain), `$${cost_usd.toFixed(4)}`, ...[steps, turns, holds].map(String), plain(why ?? '')];
}

function sumOf(model: string, all: readonly EvalRepeat[]): string {
  const repeats = all.filter((one) => one.model === model);
  const sum = (of: 'cost_usd' | 'steps' | 'holds') => repeats.reduce((total, one) => total + one[of], 0);
  const used = `$${sum('cost_usd').toFixed(4)}, ${sum('steps')} steps, ${sum('holds')} holds`;
  return `${plain(model)}: ${scoreOf(repeats)} passed, ${used}`;
}

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
