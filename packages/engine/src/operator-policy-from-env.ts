import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { type OperatorPolicy, operatorPolicySchema } from '@holdpoint/contract';

/**
 * The policy in the JSON file that HOLDPOINT_POLICY names. Read once, at the start: a file that is changed later counts from the next.
 * @throws an error naming the variable and what is wrong
 */
export function operatorPolicyFrom(env: Readonly<Record<string, string | undefined>>): OperatorPolicy | undefined {
  const path = env.HOLDPOINT_POLICY;
  if (path === undefined || path === '') return undefined;
  // The programs have different working directories.
  if (!isAbsolute(path)) throw new Error(`HOLDPOINT_POLICY: ${path} is not an absolute path`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`HOLDPOINT_POLICY: ${path} cannot be used: ${why}`, { cause });
  }
  const parsed = operatorPolicySchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const wrong = parsed.error.issues.map(({ path: at, message }) => `${at.join('.') || 'the file'}: ${message}`);
  throw new Error(`HOLDPOINT_POLICY: ${path} is no policy: ${wrong.join('; ')}`);
}
