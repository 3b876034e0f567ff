import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { type OperatorPolicy, operatorPolicySchema } from '@holdpoint/contract';
import { type CatalogTool, checkRules, parsePolicy } from '@holdpoint/policy';

/**
 * The path in HOLDPOINT_POLICY; undefined: the operator's policy is in the store.
 * @throws an error naming the variable
 */
export function policyFileFrom(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const path = env.HOLDPOINT_POLICY;
  if (path === undefined || path === '') return undefined;
  // The programs have different working directories.
  if (!isAbsolute(path)) throw new Error(`HOLDPOINT_POLICY: ${path} is not an absolute path`);
  return path;
}

/**
 * Reads the operator's policy from a file, and checks the whole policy.
 * @param tools the tools that rules can name
 * @throws an error naming the variable and every mistake
 */
export function readPolicyFile(path: string, tools: readonly CatalogTool[]): OperatorPolicy {
  try {
    return parsePolicyFile(path, readFileSync(path, 'utf8'), tools);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

export const readPolicyText = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((cause: unknown) => {
    throw unreadable(path, cause);
  });

function unreadable(path: string, cause: unknown): Error {
  if (cause instanceof PolicyFileError) return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new PolicyFileError(`HOLDPOINT_POLICY: ${path} cannot be used: ${why}`, { cause });
}

class PolicyFileError extends Error {
  override readonly name = 'PolicyFileError';
}

/** @throws PolicyFileError */
export function parsePolicyFile(path: string, text: string, tools: readonly CatalogTool[]): OperatorPolicy {
  const parsed = parsePolicy(text, operatorPolicySchema);
  const problems = parsed.ok ? checkRules(parsed.document.rules, tools) : parsed.problems;
  if (parsed.ok && problems.length === 0) return parsed.document;
  const wrong = problems.map(({ pointer, detail }) => (pointer === '' ? detail : `${pointer}: ${detail}`));
  throw new PolicyFileError(`HOLDPOINT_POLICY: ${path} is no policy in YAML or JSON: ${wrong.join('; ')}`);
}
