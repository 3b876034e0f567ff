import { ApiError } from '@holdpoint/client';
import { expect, it } from 'vitest';
import { describeError } from '../../report-error.ts';
import { setting } from '../../request/set-fields.ts';
import { type Given, nameOptions } from './name-options.ts';

const refusal = (pointer: string, code = 'invalid_network') =>
  new ApiError({ code, status: 422, detail: 'not good', next: 'Write a host.', errors: [{ pointer, detail: 'bad' }] });

const settings = ['prepare.network.allow+=x', 'settings={}', 'workspace.source.include+=x'].flatMap((text) =>
  setting(text),
);
const given: Given = { settings, fromPlan: [], fromFile: [], file: undefined };

it.each([
  ['/network/allow/0', '--allow-net: bad'],
  ['/prepare/network/allow/1', '--set prepare.network.allow: bad'],
  ['/settings/depth', '--set settings /depth: bad'],
  ['/workspace/source/path', '--source /path: bad'],
  ['/workspace/source/include/0', '--set workspace.source.include: bad'],
  ['/limits/max_steps', '/limits/max_steps: bad'],
  ['/outside_agent', '--agent: bad'],
])('a mistake at %s is one of an option', (pointer, shown) => {
  const described = describeError(nameOptions(refusal(pointer), given));
  expect(described).toMatchObject({ exitCode: 2, code: 'invalid_network', message: 'not good', next: 'Write a host.' });
  expect(described.details).toEqual([shown]);
});

it('keeps the names of fields that a file has', () => {
  const named = nameOptions(refusal('/network/allow/0'), { ...given, fromPlan: ['network'] });
  expect(describeError(named).details).toEqual(['/network/allow/0: bad']);
});

it('names the line of a field in a run file', () => {
  const file = { file: {}, place: (path: readonly PropertyKey[]) => `run.yaml:${path.length}:1` };
  const named = nameOptions(refusal('/network/allow/0'), { ...given, fromFile: ['network'], file });
  expect(describeError(named).details).toEqual(['run.yaml:3:1: network.allow.0: bad']);
});
