import type { Deps } from '../../deps.ts';
import { type AttributeQuery, checkAttributes } from '../git/attributes/check-attributes.ts';

/** The way to merge a file changed by both sides. */
export type MergeDriver =
  | { kind: 'text' | 'union' }
  /** Not merged: a person decides. */
  | { kind: 'none'; detail: string };

/** The merge drivers by path, from the attribute `merge`. Paths with the default text merge are omitted. */
export async function readMergeDrivers(
  deps: Pick<Deps, 'git'>,
  query: Omit<AttributeQuery, 'names'>,
): Promise<Map<string, MergeDriver>> {
  return driversOf(await checkAttributes(deps, { ...query, names: ['merge'] }));
}

/** @param found attributes by path, `merge` among them */
export function driversOf(found: Awaited<ReturnType<typeof checkAttributes>>): Map<string, MergeDriver> {
  const drivers = [...found].map(([path, of]): [string, MergeDriver] => [path, toDriver(of.get('merge') ?? '')]);
  return new Map(drivers.filter(([, { kind }]) => kind !== 'text'));
}

function toDriver(value: string): MergeDriver {
  switch (value) {
    case '':
    case 'set':
    case 'text':
    case 'unspecified':
      return { kind: 'text' };
    case 'union':
      return { kind: 'union' };
    case 'unset':
    case 'binary':
      return { kind: 'none', detail: '.gitattributes exclude it from merges (-merge or binary).' };
    default: {
      const name = JSON.stringify(value);
      return {
        kind: 'none',
        detail: `.gitattributes set the merge driver ${name}, and drivers of the host are not run.`,
      };
    }
  }
}
