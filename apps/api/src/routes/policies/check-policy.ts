import { operatorPolicyName, operatorPolicySchema, policySchema } from '@holdpoint/contract';
import { type CheckedPolicy, checkedPolicySchema, checkPolicySchema } from '@holdpoint/contract/wire';
import { checkRules, type PolicyProblem, parsePolicy, placeProblems, policyDigest } from '@holdpoint/policy';
import type { App } from '../../deps.ts';
import { toolsOf } from './validate-policy.ts';

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
        body: checkPolicySchema,
        response: { 200: checkedPolicySchema },
      },
    },
    async ({ body: { text, name }, deps }): Promise<CheckedPolicy> => {
      const schema = (name === operatorPolicyName ? operatorPolicySchema : policySchema) as typeof policySchema;
      const parsed = parsePolicy(text, schema);
      if (!parsed.ok) return refused(text, parsed.problems, null);
      const { document } = parsed;
      const problems = checkRules(document.rules, toolsOf(deps));
      if (problems.length > 0) return refused(text, problems, document.rules.length);
      return { ok: true, rules: document.rules.length, digest: policyDigest(document), document, mistakes: [] };
    },
  );
}

const refused = (text: string, problems: readonly PolicyProblem[], rules: number | null): CheckedPolicy => ({
  ...{ ok: false, rules, digest: null, document: null },
  mistakes: placeProblems(text, problems),
});
