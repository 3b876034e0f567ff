import type { RunEvent } from '@holdpoint/contract/wire';
import { expect, test } from 'vitest';
import { type Aftermath, type Cut, sha256, type Witness } from '../witness.ts';
import { acknowledgedEvents, nextStepSees, publishedResults, recordedSnapshots, results } from './kept.ts';

const event = (seq: number, type = 'run.started') => ({ seq, type, data: {} }) as RunEvent;

/** A parked run that was cut after two events, finished after the cut, and whose result had been published. */
function soundCut(): Cut & { witness: Witness; found: Aftermath } {
  const recorded = new Map([
    ['a.txt', 'a\n'],
    ['made.txt', 'made\n'],
  ]);
  const result = new Map([...recorded, ['counter', 'one\n'], ['perhaps', 'perhaps\n']]);
  const witness: Witness = {
    ...{ stage: 'parked', runId: 'run_1', events: [event(1), event(2)], recorded, result },
    ...{ optional: ['perhaps'], published: { type: 'directory', path: '/source' } },
  };
  const found: Aftermath = {
    ...{ events: [event(1), event(2), event(3)], recorded: new Map(recorded), status: 'succeeded', reason: undefined },
    seen: new Map([...recorded].map(([path, content]) => [path, sha256(content)])),
    ...{ result: new Map(result), published: new Map(result) },
  };
  return { witnesses: [witness], after: new Map([['run_1', found]]), witness, found };
}

const checks = [acknowledgedEvents, recordedSnapshots, nextStepSees, results, publishedResults];

test('a sound cut passes every check', () => {
  for (const check of checks) expect(check(soundCut()).wrong).toEqual([]);
});

test('what a lost background command had written may be missing, and may not be different', () => {
  const { found, ...cut } = soundCut();
  (found.result as Map<string, string>).delete('perhaps');
  expect(results(cut).wrong).toEqual([]);
  (found.result as Map<string, string>).set('perhaps', 'per');
  expect(results(cut).wrong).toEqual(['parked: perhaps is different']);
});

type Plant = (found: Aftermath, cut: ReturnType<typeof soundCut>) => void;

test.each<[string, Plant, (cut: Cut) => { wrong: string[] }]>([
  ['a run that is gone', (found) => Object.assign(found, { events: '404' }), acknowledgedEvents],
  ['a run that was never looked for', (_, { after }) => (after as Map<string, unknown>).clear(), acknowledgedEvents],
  ['a lost event', (found) => Object.assign(found, { events: [event(1)] }), acknowledgedEvents],
  [
    'an event that is another one now',
    (found) => Object.assign(found, { events: [event(1), event(2, 'run.paused')] }),
    acknowledgedEvents,
  ],
  [
    'a gap after what was acknowledged',
    (found) => Object.assign(found, { events: [event(1), event(2), event(4)] }),
    acknowledgedEvents,
  ],
  ['a snapshot that cannot be read', (found) => Object.assign(found, { recorded: 'no repository' }), recordedSnapshots],
  [
    'a snapshot with an empty file',
    (found) => (found.recorded as Map<string, string>).set('made.txt', ''),
    recordedSnapshots,
  ],
  [
    'an empty file under a step',
    (found) => (found.seen as Map<string, string>).set('made.txt', sha256('')),
    nextStepSees,
  ],
  ['a missing file under a step', (found) => (found.seen as Map<string, string>).delete('a.txt'), nextStepSees],
  ['a file too many under a step', (found) => (found.seen as Map<string, string>).set('x', sha256('x')), nextStepSees],
  ['a step that never looked', (found) => Object.assign(found, { seen: undefined }), nextStepSees],
  ['a run that hangs', (found) => Object.assign(found, { status: 'running' }), results],
  ['a run that is paused', (found) => Object.assign(found, { status: 'paused', reason: 'git failed' }), results],
  ['an effect twice', (found) => (found.result as Map<string, string>).set('counter', 'one\none\n'), results],
  ['an effect that is missing', (found) => (found.result as Map<string, string>).delete('counter'), results],
  ['an emptied result', (found) => (found.result as Map<string, string>).set('made.txt', ''), results],
  [
    'a published file that is empty',
    (found) => (found.published as Map<string, string>).set('a.txt', ''),
    publishedResults,
  ],
  ['a publish that is gone', (found) => Object.assign(found, { published: 'no branch' }), publishedResults],
])('%s is caught', (_, plant, check) => {
  const cut = soundCut();
  plant(cut.found, cut);
  expect(check(cut).wrong).not.toEqual([]);
});
