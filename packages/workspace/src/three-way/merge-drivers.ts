import type { Deps } from '../deps.ts';
import { type AttributeQuery, checkAttributes } from '../publish/git/attributes/check-attributes.ts';

/** How a file is merged that both sides changed. */
export type MergeDriver =
  | { kind: 'text' | 'union' }
  /** Not at all: a person says what becomes of it. */
  | { kind: 'none'; detail: string };

/** What the attribute `merge` says, by path, where that is not the usual merge of text. */
export async function readMergeDrivers(
  deps: Pick<Deps, 'git'>,
  query: Omit<AttributeQuery, 'names'>,
): Promise<Map<string, MergeDriver>> {
  const found = await checkAttributes(deps, { ...query, names: ['merge'] });
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
      return { kind: 'none', detail: '.gitattributes keep it from being merged (-merge, or binary).' };
    default: {
      const name = JSON.stringify(value);
      return {
        kind: 'none',
        detail: `.gitattributes have it merged by the driver ${name}, and no driver of the host is run.`,
      };
    }
  }
}
