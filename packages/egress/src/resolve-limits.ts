/** The longest delay that a timer takes; a longer one would fire at once. */
const MAX_MS = 2 ** 31 - 1;

/** Defaults, then each layer. Throws RangeError on what is not an integer from 1 (`redirects`: from 0), or a time above 2^31 - 1. */
export function resolveLimits<Limits extends object>(
  defaults: Limits,
  ...layers: readonly (Partial<Limits> | undefined)[]
): Limits {
  const limits = { ...defaults };
  for (const layer of layers) {
    for (const name of Object.keys(defaults) as (keyof Limits & string)[]) {
      const value = layer?.[name];
      if (value === undefined) continue;
      const [min, max] = [name === 'redirects' ? 0 : 1, name.endsWith('_ms') ? MAX_MS : Number.MAX_SAFE_INTEGER];
      if (!Number.isSafeInteger(value) || Number(value) < min || Number(value) > max) {
        throw new RangeError(`The limit ${name} is ${String(value)}; it must be an integer from ${min} to ${max}.`);
      }
      limits[name] = value;
    }
  }
  return limits;
}
