import type { Client } from '@holdpoint/client';
import { imageIn, imageLine } from '@holdpoint/contract';
import type { Attempt, Diff, Snapshot, StepDetail } from '@holdpoint/contract/wire';
import type { Command } from 'commander';
import { everySnapshot, findStep } from '../../find-named.ts';
import { codeText, duration, leftOutText, nameText, oneLine, pairs, patchLines, plain } from '../../output/index.ts';
import { type ApiOptions, apiCommand, commandLine, type Shell } from '../../shell/index.ts';

export const showStepCommand = (shell: Shell): Command =>
  apiCommand('show', 'show one step: its arguments, its whole result, its attempts, and what it changed')
    .argument('<run>', 'id of the run')
    .argument('<step>', 'its number in `runs steps`, its id or name')
    .action(async (runId: string, named: string, { url, json }: ApiOptions) => {
      const client = await shell.connect(url);
      const { id, number } = await findStep(client, runId, named);
      const step = await client.getStep(id);
      // A call that waits for its turn has no attempts.
      const attempts = step.turn === null ? [] : await client.listAttempts(id);
      const { patch, left_out } = await changesOf(client, step);
      if (json) return shell.printJson({ ...step, number, attempts_made: attempts, patch, left_out });
      for (const line of stepText(shell, { step, number, attempts })) shell.print(line);
      if (patch !== '') for (const line of ['', 'It changed', ...patchLines(patch, shell.colors)]) shell.print(line);
      for (const line of leftOutText(left_out, shell.colors)) shell.print(line);
      if (step.approval_id !== null) shell.say(`approval: ${commandLine('approvals', 'show', step.approval_id)}`);
    });

/** What changed between the snapshot before the step and its own, and what of it is not published. */
async function changesOf(
  client: Client,
  { id: stepId, run_id, snapshot, effect }: StepDetail,
): Promise<{ patch: string; left_out: Diff['left_out'] }> {
  const nothing = { patch: '', left_out: [] };
  if (snapshot === null || effect === 'read') return nothing;
  const before = (await lastSnapshotOf(client, run_id, stepId))?.parent;
  if (before === undefined || before === null || before === snapshot) return nothing;
  const between = { from: before, to: snapshot, include_ignored: true };
  const { left_out } = await client.diff(run_id, between);
  return { patch: await client.patch(run_id, between), left_out };
}

async function lastSnapshotOf(client: Client, runId: string, stepId: string): Promise<Snapshot | undefined> {
  for await (const snapshot of everySnapshot(client, runId)) if (snapshot.step?.id === stepId) return snapshot;
  return undefined;
}

interface Shown {
  step: StepDetail;
  number: number | null;
  attempts: readonly Attempt[];
}

function stepText({ colors }: Shell, { step, number, attempts }: Shown): string[] {
  const { name, turn, tool, effect, risk, verdict, error } = step;
  const image = imageIn(step.result);
  return [
    ...pairs({
      step: `${step.id}${number === null ? '' : ` (number ${number})`}`,
      name: name === null ? undefined : oneLine(name),
      run: `${step.run_id}${turn === null ? '' : `, turn ${turn}`}`,
      call: `${nameText(tool)} (${effect}, ${risk} risk)`,
      status: step.status,
      took: step.duration_ms === null ? undefined : duration(step.duration_ms),
      verdict: verdict === null ? undefined : `${verdict.action}: ${oneLine(verdict.reason)}`,
      error:
        error === null ? undefined : plain(`${error.code}: ${error.message}${error.next ? `\n${error.next}` : ''}`),
      attempts: attempts.map(attemptText).join('\n'),
      snapshot: step.snapshot,
      image: image && imageLine(image),
    }),
    ...valueLines('arguments', step.args, colors.bold),
    ...valueLines('result', step.result, colors.bold),
  ];
}

const attemptText = ({ number, started_at, end, duration_ms, reason, worker }: Attempt): string =>
  [
    `${number}: ${end ?? 'running'}`,
    duration_ms === null ? '' : `in ${duration(duration_ms)}`,
    `on ${nameText(worker)}, ${started_at}`,
    reason === null ? '' : oneLine(`${reason.code}: ${reason.message}`),
  ]
    .filter((text) => text !== '')
    .join(' ');

function valueLines(head: string, value: unknown, paint: (text: string) => string): string[] {
  if (value === null || value === undefined) return [];
  return ['', paint(head), ...linesOf(value).map((line) => `  ${line}`)];
}

/** JSON for people: texts with their line ends, one field per line. */
function linesOf(value: unknown): string[] {
  if (typeof value === 'string') return codeText(value).trimEnd().split('\n');
  if (typeof value !== 'object' || value === null) return [JSON.stringify(value) ?? 'null'];
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return [codeText(JSON.stringify(value))];
  return Object.entries(value).flatMap(([name, inner]) => {
    const label = Array.isArray(value) ? '-' : `${oneLine(name)}:`;
    const [first = '', ...more] = linesOf(inner);
    const isNested = more.length > 0 || (typeof inner === 'object' && inner !== null && !Array.isArray(inner));
    return isNested ? [label, ...[first, ...more].map((line) => `  ${line}`)] : [`${label} ${first}`.trimEnd()];
  });
}
