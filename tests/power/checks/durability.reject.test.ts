import type { RunEvent } from '@holdpoint/contract/wire';
import { expect, test } from 'vitest';
import { type Cut, type ExpectedRun, type RecoveredRun, sha256 } from '../cut.ts';
import { acknowledgedEvents, nextStepSees, publishedResults, recordedSnapshots, results } from './durability.ts';

const event = (seq: number, type = 'run.started') => ({ seq, type, data: {} }) as RunEvent;

/** A parked run with two events before the cut, which finished after the cut and was published. */
function soundCut(): Cut & { expectedRun: ExpectedRun; found: RecoveredRun } {
  const recorded = new Map([
    ['a.txt', 'a\n'],
    ['made.txt', 'made\n'],
  ]);
  const result = new Map([...recorded, ['counter', 'one\n'], ['perhaps', 'perhaps\n']]);
  const expectedRun: ExpectedRun = {
    ...{ stage: 'parked', runId: 'run_1', events: [event(1), event(2)], recorded, result },
    ...{ optional: ['perhaps'], published: { type: 'directory', path: '/source' } },
  };
  const found: RecoveredRun = {
    ...{ events: [event(1), event(2), event(3)], recorded: new Map(recorded), status: 'succeeded', reason: undefined },
    seen: new Map([...recorded].map(([path, content]) => [path, sha256(content)])),
    ...{ result: new Map(result), published: new Map(result) },
  };
  return { expectedRuns: [expectedRun], after: new Map([['run_1', found]]), expectedRun, found };
}

const checks = [acknowledgedEvents, recordedSnapshots, nextStepSees, results, publishedResults];

test('a sound cut passes every check', () => {
  for (const check of checks) expect(check(soundCut()).wrong).toEqual([]);
});

test('files of a lost background command may be missing but not different', () => {
  const { found, ...cut } = soundCut();
  (found.result as Map<string, string>).delete('perhaps');
  expect(results(cut).wrong).toEqual([]);
  (found.result as Map<string, string>).set('perhaps', 'per');
  expect(results(cut).wrong).toEqual(['parked: perhaps is different']);
});

type Plant = (found: RecoveredRun, cut: ReturnType<typeof soundCut>) => void;

test.each<[string, Plant, (cut: Cut) => { wrong: string[] }]>([
  ['a run that is gone', (found) => Object.assign(found, { events: '404' }), acknowledgedEvents],
  ['a run that was not read', (_, { after }) => (after as Map<string, unknown>).clear(), acknowledgedEvents],
  ['a lost event', (found) => Object.assign(found, { events: [event(1)] }), acknowledgedEvents],
  [
    'a changed event',
    (found) => Object.assign(found, { events: [event(1), event(2, 'run.paused')] }),
    acknowledgedEvents,
  ],
  [
    'a gap after the acknowledged events',
    (found) => Object.assign(found, { events: [event(1), event(2), event(4)] }),
    acknowledgedEvents,
  ],
  ['an unreadable snapshot', (found) => Object.assign(found, { recorded: 'no repository' }), recordedSnapshots],
  [
    'a snapshot with an empty file',
    (found) => (found.recorded as Map<string, string>).set('made.txt', ''),
    recordedSnapshots,
  ],
  ['an empty file in a step', (found) => (found.seen as Map<string, string>).set('made.txt', sha256('')), nextStepSees],
  ['a missing file in a step', (found) => (found.seen as Map<string, string>).delete('a.txt'), nextStepSees],
  ['an extra file in a step', (found) => (found.seen as Map<string, string>).set('x', sha256('x')), nextStepSees],
  ['a step that listed no files', (found) => Object.assign(found, { seen: undefined }), nextStepSees],
  ['a run that hangs', (found) => Object.assign(found, { status: 'running' }), results],
  ['a run that is paused', (found) => Object.assign(found, { status: 'paused', reason: 'git failed' }), results],
  ['an effect twice', (found) => (found.result as Map<string, string>).set('counter', 'one\none\n'), results],
  ['a missing effect', (found) => (found.result as Map<string, string>).delete('counter'), results],
  ['an empty file in the result', (found) => (found.result as Map<string, string>).set('made.txt', ''), results],
  ['an empty published file', (found) => (found.published as Map<string, string>).set('a.txt', ''), publishedResults],
  ['a missing publish', (found) => Object.assign(found, { published: 'no branch' }), publishedResults],
])('%s is detected', (_, plant, check) => {
  const cut = soundCut();
  plant(cut.found, cut);
  expect(check(cut).wrong).not.toEqual([]);
});
