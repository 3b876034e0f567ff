import type { Failure } from './judge.ts';
import type { Outcome } from './run-cases.ts';
import { adapterOf } from './toolsets/index.ts';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** A line per failed, skipped or disputed case; the counts by kind; and last `N passed, N failed, N skipped`. */
export function reportLines(outcomes: readonly Outcome[]): string[] {
  const kinds = Map.groupBy(outcomes, kindOf);
  return [
    ...outcomes.flatMap(lineOf),
    ...[...kinds].sort(([a], [b]) => a.localeCompare(b)).map(([kind, some]) => `${kind}: ${totals(count(some))}`),
    totals(count(outcomes)),
  ];
}

function count(outcomes: readonly Outcome[]): Counts {
  const of = (status: Outcome['status']) => outcomes.filter((outcome) => outcome.status === status).length;
  return { passed: of('passed'), failed: of('failed'), skipped: of('skipped') };
}

const totals = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`;

/** Codes outside of every contract are this project's choice: a case based on them says less about the contract. */
function kindOf({ one: { expect, origin, toolset } }: Outcome): string {
  const given = adapterOf(toolset)?.givenCodes;
  const isChosen = given !== undefined && expect.error_code?.some((code) => !given.includes(code)) === true;
  if (isChosen) return "codes of this project's choice";
  return origin === 'seed-example' ? 'examples of the contracts' : 'derived from the contracts';
}

function lineOf({ one, status, failures, reason }: Outcome): string[] {
  if (status === 'failed') return [`${one.id}  ${failureText(failures)}`];
  if (status === 'passed') return [];
  const still = failures.length > 0 ? `; ${failureText(failures)}` : '';
  return [`skipped ${one.id}  ${oneLine(reason ?? '')}${still}`];
}

function failureText([first, ...others]: readonly Failure[]): string {
  if (!first) return '';
  const more = others.length === 0 ? '' : ` (and ${others.map(({ pointer }) => pointer).join(', ')})`;
  return `${first.pointer || '/'}  expected ${oneLine(first.expected)}  got ${oneLine(first.got)}${more}`;
}

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, '\\n').slice(0, 500);
