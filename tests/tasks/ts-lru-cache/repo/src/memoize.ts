import { Cache } from './cache.ts';
import type { CacheOptions } from './options.ts';

/** Remembers the results of a function by its argument. */
export function memoize<Argument, Result>(work: (argument: Argument) => Result, options: CacheOptions) {
  const known = new Cache<Argument, Result>(options);
  return (argument: Argument): Result => {
    if (known.has(argument)) return known.get(argument) as Result;
    const result = work(argument);
    known.set(argument, result);
    return result;
  };
}
