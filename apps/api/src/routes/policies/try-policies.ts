import * as contract from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import type { Engine } from '@holdpoint/engine';
import * as policyLanguage from '@holdpoint/policy';
import type { FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem, showDamaged } from '../../errors/to-problem.ts';
import { validatorCompiler } from '../../schema/validate.ts';
import { resolvePolicy } from '../runs/create-run.ts';

/** Fields of bodies next to a document. */
const others = /^\/(call|version|since|cursor|name|least)(\/|$)/;

/** Validates bodies. The error for an unknown name has the nearest valid name. */
export const policyBodyCompiler: FastifySchemaCompiler<z.ZodType> = (route) => (data) => {
  if (route.httpPart !== 'body') return validatorCompiler(route)(data);
  const parsed = policyLanguage.parsePolicyValue(data, route.schema);
  if (parsed.ok) return { value: parsed.document };
  const isPolicy = parsed.problems.some(({ pointer }) => !others.test(pointer));
  return { error: refusal(parsed.problems, isPolicy ? 'invalid_policy' : 'invalid_request') };
};

/**
 * The document in its stored form under a name, with its defaults. Every rule must be able to match a call of some tool.
 * @param at JSON pointer of the document in the body
 * @throws ApiProblem `invalid_policy`
 */
export function checkDocument(
  deps: Pick<ApiDeps, 'catalog'>,
  value: unknown,
  { name = '', at = '' } = {},
): contract.Policy {
  const schema = name === contract.operatorPolicyName ? contract.operatorPolicySchema : contract.policySchema;
  const parsed = policyLanguage.parsePolicyValue(value, schema as typeof contract.policySchema);
  const problems = parsed.ok ? policyLanguage.checkRules(parsed.document.rules, toolsOf(deps)) : parsed.problems;
  if (parsed.ok && problems.length === 0) return parsed.document;
  throw refusal(problems.map(({ pointer, detail }) => ({ pointer: `${at}${pointer}`, detail })));
}

/** The tools of all toolsets. */
const toolsOf = ({ catalog }: Pick<ApiDeps, 'catalog'>) =>
  catalog.toolsets().flatMap((toolset) => catalog.list(toolset).map((tool) => ({ ...tool, toolset })));

function refusal(
  errors: readonly wire.PointerError[],
  code: 'invalid_policy' | 'invalid_request' = 'invalid_policy',
): ApiProblem {
  const [first] = errors;
  const detail = first === undefined ? 'the policy is not valid' : `${first.pointer || '/'}: ${first.detail}`;
  return new ApiProblem(code, detail, { errors });
}

/** POST /v1/policies/check: the mistakes of a text by their lines, for the person who writes it. */
export function checkPolicyRoute(app: App): void {
  app.post(
    '/v1/policies/check',
    {
      config: { access: 'policies:read' },
      schema: {
        tags: ['policies'],
        operationId: 'checkPolicy',
        summary: 'Find every mistake in the text of a policy',
        description: 'Each with its line. Mistakes are in `mistakes`; the answer is a 200. Nothing is stored.',
        body: wire.checkPolicySchema,
        response: { 200: wire.checkedPolicySchema },
      },
    },
    async ({ body: { text, name }, deps }): Promise<wire.CheckedPolicy> => {
      const schema = (
        name === contract.operatorPolicyName ? contract.operatorPolicySchema : contract.policySchema
      ) as typeof contract.policySchema;
      const parsed = policyLanguage.parsePolicy(text, schema);
      if (!parsed.ok) return refused(text, parsed.problems, null);
      const { document } = parsed;
      const problems = policyLanguage.checkRules(document.rules, toolsOf(deps));
      if (problems.length > 0) return refused(text, problems, document.rules.length);
      return {
        ok: true,
        rules: document.rules.length,
        digest: policyLanguage.policyDigest(document),
        document,
        mistakes: [],
      };
    },
  );
}

const refused = (
  text: string,
  problems: readonly policyLanguage.PolicyProblem[],
  rules: number | null,
): wire.CheckedPolicy => ({
  ...{ ok: false, rules, digest: null, document: null },
  mistakes: policyLanguage.placeProblems(text, problems),
});

type Page = Awaited<ReturnType<Engine['policies']['replay']>>;
type Call = Page['changed'][number];
type Proposal = Awaited<ReturnType<Engine['policies']['propose']>>['proposals'][number];

/** A page of a replay without the runs that cannot be read. */
export function showReplay({
  changed,
  notJudged,
  leftOut,
  damaged: _,
  next,
  ...counts
}: Page): Omit<wire.PolicyReplay, 'damaged'> {
  return {
    ...counts,
    changed: changed.map(({ verdict, ...call }) => ({ ...shown(call), verdict })),
    not_judged: notJudged.map(({ reason, ...call }) => {
      const { was: _, decided: __, ...about } = shown(call);
      return { ...about, reason };
    }),
    left_out: leftOut,
    next_cursor: next ?? null,
  };
}

const mostCalls = 100;

export const showProposal = ({ calls, ...proposal }: Proposal): wire.RuleProposal => ({
  ...proposal,
  calls: calls.slice(0, mostCalls).map(({ run_id, step_id, at, facts: { tool, args } }) => ({
    ...{ run_id, step_id, at, tool, args: textOf(args) },
  })),
});

const shown = ({
  runId,
  stepId,
  at,
  tool,
  was,
  decision,
  args,
}: Omit<Call, 'verdict'>): Omit<wire.ReplayedCall, 'verdict'> => ({
  ...{ run_id: runId, step_id: stepId, tool, at, was },
  args: textOf(args),
  decided: decision ?? null,
});

const longestText = 500;

function textOf(args: unknown): string {
  const text = JSON.stringify(args);
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}

const tags = ['policies'];
/** They show calls of runs. */
const config = { access: 'runs:read' } as const;
const consumes = ['application/json', 'application/yaml'];

export function replayPoliciesRoutes(app: App): void {
  app.post(
    '/v1/policies/replay',
    {
      config,
      schema: {
        tags,
        operationId: 'replayPolicy',
        summary: 'Judge recorded calls again with another policy',
        description:
          "Every call of the tenant's runs since a time, newest run first: what would newly be allowed, held and denied, with how people decided then. " +
          'The document takes the place of the policy of the run; the policies of the operator are those of then. Send again with `next_cursor` until it is null. Nothing is changed.',
        consumes,
        body: wire.replayPolicySchema,
        response: { 200: wire.replayPageSchema },
      },
    },
    async ({ body, deps }) => {
      const { since, cursor } = body;
      const page = await deps.engine.policies.replay(await candidateOf(deps, body), { since, cursor });
      return { ...showReplay(page), ...showDamaged(deps, page.damaged) };
    },
  );

  app.post(
    '/v1/policies/propose',
    {
      config,
      schema: {
        tags,
        operationId: 'proposeRules',
        summary: 'Propose rules from past decisions',
        description:
          'Rules that would have let through calls that people always approved, and none that was refused or denied; each with its calls. Nothing is changed: a person puts them into a policy.',
        consumes,
        body: wire.proposeRulesSchema,
        response: { 200: wire.ruleProposalsSchema },
      },
    },
    async ({ body, deps }) => {
      const { proposals, damaged, ...about } = await deps.engine.policies.propose(body);
      return { data: proposals.map(showProposal), ...about, ...showDamaged(deps, damaged) };
    },
  );
}

/** @throws ApiProblem `invalid_policy`, `unknown_policy`, `missing_scope` */
async function candidateOf(
  deps: Pick<ApiDeps, 'engine' | 'catalog' | 'holder'>,
  { policy, name: insteadOf }: Pick<z.output<typeof wire.replayPolicySchema>, 'policy' | 'name'>,
): Promise<Parameters<Engine['policies']['replay']>[0]> {
  if (isReference(policy)) {
    if (!deps.holder.scopes.includes('policies:read')) {
      throw new ApiProblem('missing_scope', 'a policy by its name needs the scope policies:read');
    }
    const { policy: document, policy_pin } = await resolvePolicy(deps, policy);
    return { document, name: policy.name, version: policy_pin?.version, insteadOf };
  }
  const document = checkDocument(deps, policy, { name: insteadOf, at: '/policy' });
  return { document, name: insteadOf ?? 'run', insteadOf };
}

const isReference = (
  policy: z.output<typeof contract.storedPolicySchema> | contract.PolicyReference,
): policy is contract.PolicyReference => 'name' in policy;
