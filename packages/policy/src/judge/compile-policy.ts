import { createHash } from 'node:crypto';
import { canonicalJson, type PolicyRule, type ToolsetRules } from '@holdpoint/contract';
import type { CallFacts } from '../match/call-facts.ts';
import { type CompiledRule, compileRule } from './compile-rule.ts';

/** A document of the run, of the operator, or by name. */
export interface PolicyDocument {
  rules: readonly PolicyRule[];
}

export interface CompiledPolicy {
  /** `sha256:` and 64 hex digits, of the document as canonical JSON. */
  digest: string;
  rules: readonly CompiledRule[];
  /** The rules with a possible match for this tool's calls, in their order. */
  rulesFor(call: Pick<CallFacts, 'toolset' | 'tool'>): readonly CompiledRule[];
}

const maxKept = 200;
const byDocument = new WeakMap<PolicyDocument, CompiledPolicy>();
const byDigest = new Map<string, CompiledPolicy>();

/**
 * Compiles once per content. The document must not change afterwards.
 * @throws GlobError, RegexError, HostPatternError for a document `checkPolicy` would refuse
 */
export function compilePolicy(document: PolicyDocument): CompiledPolicy {
  const known = byDocument.get(document);
  if (known !== undefined) return known;
  const digest = policyDigest(document);
  const policy = byDigest.get(digest) ?? compile(document, digest);
  byDocument.set(document, policy);
  // The most recently used policy is the last to be dropped.
  byDigest.delete(digest);
  byDigest.set(digest, policy);
  const [oldest] = byDigest.keys();
  if (byDigest.size > maxKept && oldest !== undefined) byDigest.delete(oldest);
  return policy;
}

export const policyDigest = (document: unknown): string =>
  `sha256:${createHash('sha256').update(canonicalJson(document)).digest('hex')}`;

/** Names of tools come from models too: an index of unknown names must not grow. */
const maxTools = 500;

function compile(document: PolicyDocument, digest: string): CompiledPolicy {
  const rules = document.rules.map(compileRule);
  const index = new Map<string, readonly CompiledRule[]>();
  return {
    digest,
    rules,
    rulesFor({ toolset, tool }) {
      const key = `${toolset}\0${tool}`;
      const known = index.get(key);
      if (known !== undefined) return known;
      const candidates = rules.filter((rule) => mayMatch(rule, toolset, tool)).map(withoutTool);
      if (index.size >= maxTools) index.clear();
      index.set(key, candidates);
      return candidates;
    },
  };
}

const nothing: Omit<CallFacts, 'toolset' | 'tool'> = {
  effect: 'read',
  risk: 'low',
  args: null,
  touches: { paths: [], commands: [], hosts: [] },
  labels: {},
};

/** The index has tested the tool. */
const withoutTool = (rule: CompiledRule): CompiledRule => ({
  ...rule,
  ofCall: rule.ofCall.filter((one) => !isOfTool(one)),
});

const isOfTool = ({ pointer }: CompiledRule['ofCall'][number]): boolean =>
  pointer === '/match/tool' || pointer === '/match/toolset';

const mayMatch = ({ ofCall }: CompiledRule, toolset: string, tool: string): boolean =>
  ofCall
    .filter(isOfTool)
    .every(({ test }) => test({ ...nothing, toolset, tool }, { kind: 'call' }, { left: 0 }) !== 'no');

/**
 * The rules of a toolset: behind them a hold rule for each tool with a question on every call, and last the rules for calls without a
 * question.
 */
export interface ToolsetPolicy {
  /** `toolset:` and the name of the toolset. */
  name: string;
  version?: undefined;
  policy: CompiledPolicy;
  /** The index of the first question. */
  asksFrom: number;
  /** The index of the first rule with power over the hold rules of the built-in policy. */
  autoFrom: number;
}

export const toolsetPrefix = 'toolset:';

const known = new WeakMap<ToolsetRules, ToolsetPolicy>();

/** Compiled once per object. The object must not change afterwards. @returns undefined when the toolset says nothing */
export function toolsetPolicy(toolset: string, says: ToolsetRules): ToolsetPolicy | undefined {
  const { rules, asks, auto = [] } = says;
  if (rules.length === 0 && asks.length === 0 && auto.length === 0) return undefined;
  const made = known.get(says) ?? {
    name: `${toolsetPrefix}${toolset}`,
    policy: compilePolicy({ rules: [...rules, ...asks.map(question), ...auto] }),
    asksFrom: rules.length,
    autoFrom: rules.length + asks.length,
  };
  known.set(says, made);
  return made;
}

const question = (tool: string): PolicyRule => ({
  name: `asks-${tool}`.slice(0, 100),
  match: { tool },
  action: 'hold',
  reason: `every call of ${tool} asks a person`,
});
