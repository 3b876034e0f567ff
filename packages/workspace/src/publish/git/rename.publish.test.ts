import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Conflict, Resolution } from '@holdpoint/contract';
import { describe, expect } from 'vitest';
import { test } from '../../testing/fixture.ts';
import type { Temporary } from '../../testing/index.ts';
import { checkedOut, startOnMain } from '../../testing/moving-branch.ts';

/** Twenty lines, so that git detects a rename despite an edit. @param edits line number → text */
const text = (edits: Record<number, string> = {}): string =>
  Array.from({ length: 20 }, (_, index) => `${edits[index + 1] ?? `line ${index + 1}`}\n`).join('');

const base = text();
const ofBranch = text({ 15: 'branch' });
const ofRun = text({ 15: 'run' });
const both = text({ 15: 'branch and run' });
const ownFile = 'another file altogether\n';

/** What one side does: null removes a file. */
type Side = Record<string, string | null>;

/** Versions of a conflict: base, source, run. */
type Shown = [string | null, string | null, string | null];

interface Scenario {
  branch: Side;
  run: Side;
  /** The expected conflicts and their `detail`. */
  conflicts: Record<string, { shown: Shown; detail: RegExp }>;
  /** Files that exist for every resolution. */
  always: Record<string, string>;
}

const moved = (to: string) => new RegExp(`deleted .*moved to ${to.replace('.', '\\.')}`);

const scenarios: Record<string, Scenario> = {
  'the branch moves and edits a file that the run edits': {
    branch: { 'f.txt': null, 'r.txt': ofBranch },
    run: { 'f.txt': ofRun },
    conflicts: { 'f.txt': { shown: [base, null, ofRun], detail: moved('r.txt') } },
    always: { 'r.txt': ofBranch },
  },
  'the run moves and edits a file that the branch edits': {
    branch: { 'f.txt': ofBranch },
    run: { 'f.txt': null, 'r.txt': ofRun },
    conflicts: { 'f.txt': { shown: [base, ofBranch, null], detail: moved('r.txt') } },
    always: { 'r.txt': ofRun },
  },
  'the branch moves a file to a path where the run makes another file': {
    branch: { 'f.txt': null, 'r.txt': base },
    run: { 'f.txt': ofRun, 'r.txt': ownFile },
    conflicts: {
      'f.txt': { shown: [base, null, ofRun], detail: moved('r.txt') },
      'r.txt': { shown: [null, base, ownFile], detail: /did not start from/ },
    },
    always: {},
  },
  'the run moves a file to a path where the branch makes another file': {
    branch: { 'f.txt': ofBranch, 'r.txt': ownFile },
    run: { 'f.txt': null, 'r.txt': base },
    conflicts: {
      'f.txt': { shown: [base, ofBranch, null], detail: moved('r.txt') },
      'r.txt': { shown: [null, ownFile, base], detail: /did not start from/ },
    },
    always: {},
  },
  'branch and run move a file to different places': {
    branch: { 'f.txt': null, 'r1.txt': ofBranch },
    run: { 'f.txt': null, 'r2.txt': ofRun },
    conflicts: {},
    always: { 'r1.txt': ofBranch, 'r2.txt': ofRun },
  },
  'branch and run move a file to the same place with different edits': {
    branch: { 'f.txt': null, 'r.txt': ofBranch },
    run: { 'f.txt': null, 'r.txt': ofRun },
    conflicts: { 'r.txt': { shown: [null, ofBranch, ofRun], detail: /did not start from/ } },
    always: {},
  },
};

function change(folder: string, side: Side): void {
  for (const [path, content] of Object.entries(side)) {
    if (content === null) rmSync(join(folder, path));
    else writeFileSync(join(folder, path), content);
  }
}

async function start(t: Temporary, { branch, run }: Scenario) {
  const { repository, plan, publish } = await startOnMain(t, {
    base: { 'f.txt': base, 'other.txt': 'other\n' },
    run: (path) => change(path, run),
    theirs: (work) => change(work, branch),
  });
  const onBranch = () =>
    Object.fromEntries(
      Object.entries(checkedOut(t, repository)).map(([path, file]) => [path, file.replace('file ', '')]),
    );
  return { plan, publish, onBranch };
}

const shownIn = ({ versions }: Conflict): Shown => [
  versions?.base?.text ?? null,
  versions?.source?.text ?? null,
  versions?.run?.text ?? null,
];

describe.each(Object.entries(scenarios))('%s', (_, scenario) => {
  test('shows every version at its own path', async ({ t }) => {
    const { conflicts } = await (await start(t, scenario)).plan();
    expect(Object.fromEntries(conflicts.map((one) => [one.path, shownIn(one)]))).toEqual(
      Object.fromEntries(Object.entries(scenario.conflicts).map(([path, { shown }]) => [path, shown])),
    );
    for (const { path, detail } of conflicts) expect(detail).toMatch(scenario.conflicts[path]?.detail ?? /^$/);
  });

  test.for(['run', 'source', 'text'] as const)(
    'taking %s gives exactly that version and keeps all other files',
    async (take, { t }) => {
      const { plan, publish, onBranch } = await start(t, scenario);
      const { conflicts } = await plan();
      const settled = conflicts.map(({ path, versions }): Resolution => {
        const seen = versions?.source?.oid ?? null;
        return take === 'text' ? { path, take, text: both, seen } : { path, take, seen };
      });
      expect(await publish(settled)).toMatchObject({ status: 'published' });
      const expected: Record<string, string> = { 'other.txt': 'other\n', ...scenario.always };
      for (const [path, { shown }] of Object.entries(scenario.conflicts)) {
        const content = { source: shown[1], run: shown[2], text: both }[take];
        if (content !== null) expected[path] = content;
      }
      expect(onBranch()).toEqual(expected);
    },
  );
});
