import type { EvalOriginal, EvalRepeat } from '@holdpoint/contract';
import type { Eval } from '@holdpoint/contract/wire';
import { plain, table } from '../../output/index.ts';

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
