import { isDeepStrictEqual } from 'node:util';
import type { Json } from '@holdpoint/contract';
import type { Approval } from '@holdpoint/contract/wire';

type Change = NonNullable<Approval['decision']>['changes'][number];

/** Where two JSON values differ, by JSON pointer. Lists of different lengths differ as a whole. */
export function changedArgs(asked: Json, ran: Json, pointer = ''): Change[] {
  if (isDeepStrictEqual(asked, ran)) return [];
  if (!isRecord(asked) || !isRecord(ran)) return [{ pointer, asked, ran }];
  return [...new Set([...Object.keys(asked), ...Object.keys(ran)])].flatMap((name): Change[] => {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const [before, after] = [asked[name], ran[name]];
    if (before === undefined) return after === undefined ? [] : [{ pointer: at, ran: after }];
    return after === undefined ? [{ pointer: at, asked: before }] : changedArgs(before, after, at);
  });
}

const isRecord = (value: Json): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
