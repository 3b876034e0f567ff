import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { defaultTenant, type OperatorPolicy, operatorPolicyName, operatorPolicySchema } from '@holdpoint/contract';
import { type CatalogTool, checkRules, compilePolicy, parsePolicy, policyDigest } from '@holdpoint/policy';
import type { EngineDeps } from '../deps.ts';
import { type OperatorInForce, shortDigest } from '../domain/index.ts';
import { getPolicy, latestVersion, operatorDocumentsKey } from './read-policies.ts';

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

const readPolicyText = (path: string): Promise<string> =>
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
function parsePolicyFile(path: string, text: string, tools: readonly CatalogTool[]): OperatorPolicy {
  const parsed = parsePolicy(text, operatorPolicySchema);
  const problems = parsed.ok ? checkRules(parsed.document.rules, tools) : parsed.problems;
  if (parsed.ok && problems.length === 0) return parsed.document;
  const wrong = problems.map(({ pointer, detail }) => (pointer === '' ? detail : `${pointer}: ${detail}`));
  throw new PolicyFileError(`HOLDPOINT_POLICY: ${path} is no policy in YAML or JSON: ${wrong.join('; ')}`);
}

/** The policy that binds every run in this process, and its problem. */
export interface OperatorPolicyStatus {
  /** Digest of the policy in force; null: no policy is in force. */
  policy: string | null;
  /** The version of the policy in the store; null for a file. */
  policy_version: number | null;
  /** Why the policy in force differs from the source. */
  policy_problem: string | null;
}

export interface OperatorPolicyReader {
  /** Absolute path of the policy file; undefined: the policy is in the store. */
  file: string | undefined;
  current(): OperatorInForce | undefined;
  status(): OperatorPolicyStatus;
  /** Looks at the source now. */
  refresh(): Promise<void>;
  stop(): void;
}

interface Source {
  /** Absolute path; undefined: the store. */
  file: string | undefined;
  /** The tools that rules can name. */
  tools: readonly CatalogTool[];
  /** Milliseconds between two looks. @default 400 */
  everyMs?: number;
}

type Deps = Pick<EngineDeps, 'redis' | 'logger'>;

/**
 * Opens the operator's policy and follows its changes. An unusable change is logged, and the policy in force stays.
 * @throws an error about an unusable policy at the start
 */
export async function openOperatorPolicy(deps: Deps, source: Source): Promise<OperatorPolicyReader> {
  const look = source.file === undefined ? lookAtStore(deps) : lookAtFile(source.file, source.tools);
  const first = await look.first();
  await keep(deps, first);
  let inForce = first;
  let problem: string | null = null;
  const refreshNow = async (): Promise<void> => {
    try {
      const found = await look.again(inForce);
      if (found !== undefined) {
        // Stored before the policy judges: a replay can read each policy that a verdict names.
        await keep(deps, found.inForce);
        inForce = found.inForce;
        deps.logger.info({ event: 'policy_changed', ...statusOf(inForce) }, "the operator's policy has changed");
      }
      problem = null;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      if (text !== problem) {
        deps.logger.error({ event: 'policy_problem', err: error }, `the operator's policy stays as it was: ${text}`);
      }
      problem = text;
    }
  };
  // One look at a time: a later look never brings an earlier policy back.
  let last: Promise<void> = Promise.resolve();
  let isLooking = false;
  const refresh = (): Promise<void> => {
    last = last.then(refreshNow);
    return last;
  };
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void refresh().then(() => {
      isLooking = false;
    });
  }, source.everyMs ?? 400);
  timer.unref();
  return {
    file: source.file,
    current: () => inForce,
    status: () => ({ ...statusOf(inForce), policy_problem: problem }),
    refresh,
    stop: () => clearInterval(timer),
  };
}

const statusOf = (inForce: OperatorInForce | undefined) => ({
  policy: inForce?.digest ?? null,
  policy_version: inForce?.version ?? null,
});

async function keep({ redis }: Deps, inForce: OperatorInForce | undefined): Promise<void> {
  if (inForce === undefined) return;
  await redis.hset(operatorDocumentsKey, shortDigest(inForce.digest), JSON.stringify(inForce.document));
}

interface Look {
  first(): Promise<OperatorInForce | undefined>;
  /** Undefined: nothing has changed. @throws an error that says why the source cannot be used */
  again(known: OperatorInForce | undefined): Promise<{ inForce: OperatorInForce | undefined } | undefined>;
}

function lookAtFile(path: string, tools: readonly CatalogTool[]): Look {
  let used = '';
  let seen = '';
  const parse = (text: string): OperatorInForce => {
    const document = parsePolicyFile(path, text, tools);
    return { document, digest: policyDigest(document) };
  };
  return {
    async first() {
      used = seen = await readPolicyText(path);
      return parse(used);
    },
    async again(known) {
      const text = await readPolicyText(path);
      const isStable = text === seen;
      seen = text;
      // A half-written file may be a policy with fewer rules: new content counts once two looks have seen the same content.
      if (!isStable || text === used) return undefined;
      const inForce = parse(text);
      used = text;
      return inForce.digest === known?.digest ? undefined : { inForce };
    },
  };
}

function lookAtStore({ redis }: Pick<Deps, 'redis'>): Look {
  const named = { tenant: defaultTenant, name: operatorPolicyName };
  const read = async (version: number): Promise<OperatorInForce | undefined> => {
    if (version === 0) return undefined;
    const { document, digest } = await getPolicy({ redis }, { ...named, version });
    const inForce = { document: operatorPolicySchema.parse(document), digest, version };
    // A later version of Holdpoint may have stored the policy: a policy that this version cannot compile never comes into force.
    compilePolicy(inForce.document);
    return inForce;
  };
  return {
    first: async () => read(await latestVersion({ redis }, named)),
    async again(known) {
      const version = await latestVersion({ redis }, named);
      return version === (known?.version ?? 0) ? undefined : { inForce: await read(version) };
    },
  };
}
