import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { heavyAnswers, heavyWork } from './host/heavy-work.ts';
import { form, inForm, makeDirectory, runProgram, users } from './host/index.ts';

interface Outcome {
  status: string;
  steps: string[];
  /** Why the run paused. */
  reason?: string;
  /** Each delay of an event loop: over 100 ms of computing, or over a second late for any reason. */
  delays: { of: string; late_ms: number; busy_ms: number }[];
}

/** Only the thread's own CPU time counts: a loop that is late because this machine runs other tests is not delayed by a tool or model. */
const longestMs = 100;

const names = [...inForm(heavyWork), ...inForm(heavyAnswers)].map(({ name }) => name);
/** One user in the bounded form: each starts a whole system. */
const chosen = form === 'full' ? users : users.slice(-1);

describe.each(chosen)('heavy work, with the whole system run by $name', (user) => {
  let directory: string;
  let report: Record<string, Outcome>;
  beforeAll(async () => {
    directory = makeDirectory(user);
    report = await runProgram(user, 'heavy-process.ts', [JSON.stringify(names)], { HOME: directory });
  }, 900_000);
  afterAll(() => execFileSync('rm', ['-rf', directory]));

  test.each(names)('no event loop is delayed by %s', (name) => {
    const outcome = report[name];
    // An answer that is too large is no answer, so its run pauses.
    expect(outcome?.steps.length !== 0 || outcome.reason).toBeTruthy();
    if (outcome?.status === 'paused') expect(outcome.reason).toBe('EMODELUNUSABLE');
    expect(outcome?.delays.filter(({ busy_ms }) => busy_ms > longestMs)).toEqual([]);
  });

  test('work is done, or refused with a reason for the model', () => {
    const codes = Object.values(report).flatMap(({ steps }) => steps.map((step) => step.split(' ').at(-1)));
    expect(codes).toContain('succeeded');
    expect(codes.filter((code) => code === 'running' || code === 'unknown' || code === 'ETEXTTIME')).toEqual([]);
  });
});
