import type { Json } from '@holdpoint/contract';
import type { CreateRun } from '@holdpoint/contract/wire';
import type { CallContext, Config } from '../case.ts';
import { type Found, isObject, missing } from '../match.ts';

/** The wishes of a case for its run, in the words of the cases. */
interface Wanted {
  config: Config;
  context: CallContext;
  /** Where the stubs of the case are: `127.0.0.1:PORT`. */
  stubs: readonly string[];
}

/** Fields of POST /v1/runs; `settings` are the toolset's own. */
export type RunFields = Pick<CreateRun, 'network' | 'permissions' | 'modes' | 'secrets' | 'limits'> & {
  settings?: Record<string, Json | undefined>;
};

/** How a toolset takes an operator's settings, and how its results tell of success. A file per toolset. */
export interface Adapter {
  /** The fields of the run for an operator's settings and the context of a call. */
  fields(wanted: Wanted): RunFields;
  ok(native: Found): boolean;
  errorCode(native: Found): string | undefined;
  /** The part of a result at the start of pointers. */
  root(native: Found): Found;
  /** Codes given by the contract; all others are the project's choice. Undefined: the contract gives every code. */
  givenCodes?: readonly string[];
}

/** The value of a key; missing for any result but an object with the key. */
export const field = (native: Found, key: string): Found =>
  isObject(native) && Object.hasOwn(native, key) ? (native[key] as Json) : missing;

/** The text of a key within a key. */
export function textAt(native: Found, ...keys: string[]): string | undefined {
  const found = keys.reduce(field, native);
  return typeof found === 'string' ? found : undefined;
}

/** Hosts with ports in reach of a run, from a list of origins. */
export const hostsOf = (urls: readonly string[]): string[] =>
  urls.map((url) => {
    const { hostname, port, protocol } = new URL(url);
    return `${hostname}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`;
  });
