import { type Outcome, sumByTool } from './try-task.ts';

type Say = (line: string) => void;

/** Prints a line per task as soon as the task is done, and the sums at the end. */
export function printTable(say: Say, isExpert: boolean) {
  const outcomes: Outcome[] = [];
  const cells = isExpert ? expertCells : modelCells;
  say(line(isExpert ? expertHead : modelHead));
  return {
    add(outcome: Outcome) {
      outcomes.push(outcome);
      say(line([outcome.task, outcome.solved ? 'yes' : 'NO', ...cells(outcome)]));
      for (const problem of outcome.problems) if (problem !== '') say(`    ${problem.replaceAll('\n', '\n    ')}`);
    },
    /** @returns whether every task is solved, and is a good task */
    end(): boolean {
      const solved = outcomes.filter((one) => one.solved).length;
      const all = sumOf(outcomes);
      say(line(['', `${solved}/${outcomes.length}`, ...cells(all)]));
      for (const { tool, count, asText, asJson } of isExpert ? all.results.byTool : []) {
        say(`  ${count} results of ${tool}: ${asText} tokens, ${(asText / asJson).toFixed(2)} of ${asJson} as JSON`);
      }
      return outcomes.every((one) => one.solved && one.problems.length === 0);
    },
  };
}

const expertHead = ['task', 'solved', 'turns', 'holds', 'read', 'read as JSON', 'results', 'as JSON', 'ratio'];
const expertCells = ({ turns, holds, read, results }: Counted): string[] => {
  const { asText = 0, asJson = 0, readAsJson = 0 } = results ?? {};
  return [turns, holds, read, readAsJson, asText, asJson, (asText / asJson).toFixed(2)].map(String);
};

const modelHead = ['task', 'solved', 'turns', 'holds', 'tokens read', 'cost in $'];
const modelCells = ({ turns, holds, read, cost }: Counted): string[] => [
  ...[turns, holds, read].map(String),
  cost.toFixed(4),
];

type Counted = Pick<Outcome, 'turns' | 'holds' | 'read' | 'cost' | 'results'>;

function sumOf(outcomes: readonly Outcome[]) {
  const sum = (of: (one: Outcome) => number) => outcomes.reduce((all, one) => all + of(one), 0);
  return {
    ...{ turns: sum((one) => one.turns), holds: sum((one) => one.holds) },
    ...{ read: sum((one) => one.read), cost: sum((one) => one.cost) },
    results: {
      asText: sum(({ results }) => results?.asText ?? 0),
      asJson: sum(({ results }) => results?.asJson ?? 0),
      readAsJson: sum(({ results }) => results?.readAsJson ?? 0),
      byTool: sumByTool(outcomes.flatMap(({ results }) => results?.byTool ?? [])),
    },
  };
}

const widths = [24, 7, 6, 6, 12, 13, 9, 9, 6];

const line = (cells: readonly string[]): string =>
  cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[at] ?? 0))).join(' ');
