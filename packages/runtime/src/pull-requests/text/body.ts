import type { PullRequestReport } from '@holdpoint/engine/worker';
import { markerOf } from './marker.ts';
import { code, codeBlock } from './quote.ts';

interface Told {
  runId: string;
  commit: string;
  report: PullRequestReport;
  /** Address of the console. */
  console: string | undefined;
}

/** Together with the lists below, well under the 65,536 characters that GitHub takes. */
const mostMessage = 20_000;
const mostListed = 50;

/** The text of a pull request: what the run says it did, and what is known about the change. */
export function bodyText({ runId, commit, report, console }: Told): string {
  const { message, digest } = report;
  const run = console === undefined ? code(runId) : `[${runId}](${console.replace(/\/+$/, '')}/runs/${runId})`;
  return [
    markerOf(runId),
    '## What was done, in the words of the run',
    message.trim() === '' ? 'The run ended without a message.' : codeBlock(message, mostMessage),
    '## Validators',
    list(validatorLines(report), 'None were asked for.'),
    '## Decisions of people',
    list(decisionLines(report), 'None were asked for.'),
    `Published by the Holdpoint run ${run} as ${code(commit)}, under the plan ${code(digest)}.`,
    '',
  ].join('\n\n');
}

const list = (lines: readonly string[], none: string): string =>
  lines.length === 0 ? none : lines.map((line) => `- ${line}`).join('\n');

const validatorLines = ({ validators }: PullRequestReport): string[] =>
  withRest(
    validators
      .slice(0, mostListed)
      .map(
        ({ status, command, duration_ms: ms }) =>
          `${status.replace('_', ' ')}: ${code(command)} (${(ms / 1000).toFixed(1)} s)`,
      ),
    validators.length,
  );

const decisionLines = ({ decisions, decided }: PullRequestReport): string[] =>
  withRest(
    decisions.slice(-mostListed).map(({ decision, by, votes, digest, at }) => {
      const all = [...new Set([by, ...votes])].map((name) => code(name)).join(', ');
      return `${decision} by ${all}, ${at}, of ${code(digest)}`;
    }),
    decided,
  );

const withRest = (lines: readonly string[], all: number): string[] =>
  all > lines.length ? [...lines, `and ${all - lines.length} more, which the run shows`] : [...lines];
