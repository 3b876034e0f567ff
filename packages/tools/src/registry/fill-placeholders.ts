import type { Problem } from '@holdpoint/contract';

/** `$ENV.NAME` */
export const placeholder = /\$ENV\.([A-Za-z][A-Za-z0-9_]*)/g;

/**
 * Arguments with each `$ENV.NAME` replaced by the secret, for one execution: the log and the approval keep the placeholders. Names of fields
 * are unchanged.
 * @param resolve undefined for a name without use as a placeholder in the run
 */
export function fillPlaceholders(
  args: unknown,
  resolve: (name: string) => string | undefined,
): { ok: true; args: unknown } | { ok: false; error: Problem } {
  const missing = new Set<string>();
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') {
      return value.replaceAll(placeholder, (text, name: string) => {
        const secret = resolve(name);
        if (secret === undefined) missing.add(name);
        return secret ?? text;
      });
    }
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fill(inner)]));
  };
  const filled = fill(args);
  if (missing.size === 0) return { ok: true, args: filled };
  const message = `Not run: the run has no placeholder ${[...missing].map((name) => `$ENV.${name}`).join(', ')}.`;
  return { ok: false, error: { code: 'ESECRETUNKNOWN', message, next: 'Use a secret that the run names.' } };
}
