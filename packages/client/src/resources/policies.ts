import type { PolicyVersion } from '@holdpoint/contract';
import {
  type CheckedPolicy,
  type CheckPolicy,
  checkedPolicySchema,
  explanationSchema,
  type Page,
  type PolicyExplanation,
  type PolicyReplay,
  type PolicySummary,
  type ProposeRules,
  type PutPolicy,
  policyListSchema,
  policySummarySchema,
  policyVersionPageSchema,
  type ReplayPolicy,
  type RuleProposals,
  replayPageSchema,
  ruleProposalsSchema,
  storedVersionSchema,
  type TestNamedPolicy,
  type TestPolicy,
} from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, entriesOf, type ListOptions, type Options, type PageQuery } from './request-parts.ts';

export const policyRequests = ({ ask }: Transport) => ({
  /** The newest version of each. */
  listPolicies: async (options: ListOptions = {}): Promise<PolicySummary[]> => {
    const { signal } = options;
    return entriesOf((await ask({ path: '/v1/policies', signal }, policyListSchema)).body, options);
  },

  /** @param version the newest when absent */
  async getPolicy(
    name: string,
    { version, signal }: Options & { version?: number | undefined } = {},
  ): Promise<PolicyVersion> {
    const path = at('policies', name, version === undefined ? '' : `/versions/${version}`);
    return (await ask({ path, signal }, storedVersionSchema)).body;
  },

  async listPolicyVersions(
    name: string,
    query: PageQuery = {},
    { signal }: Options = {},
  ): Promise<Page<PolicySummary>> {
    return (
      await ask({ path: at('policies', name, '/versions'), query: { ...query }, signal }, policyVersionPageSchema)
    ).body;
  },

  /** `created` is false when the newest version has the same content. @param ifVersion the version to replace; 0: none */
  async putPolicy(
    name: string,
    document: PutPolicy,
    { ifVersion, signal }: Options & { ifVersion?: number | undefined } = {},
  ): Promise<{ policy: PolicyVersion; created: boolean }> {
    const query = { if_version: ifVersion };
    const request = { method: 'PUT' as const, path: at('policies', name), query, body: document, signal };
    const answer = await ask(request, storedVersionSchema);
    return { policy: answer.body, created: answer.status === 201 };
  },

  /** Its versions stay readable. */
  async deletePolicy(
    name: string,
    { ifVersion, signal }: Options & { ifVersion?: number | undefined } = {},
  ): Promise<PolicySummary> {
    const query = { if_version: ifVersion };
    return (await ask({ method: 'DELETE', path: at('policies', name), query, signal }, policySummarySchema)).body;
  },

  /** Every mistake in a text, with its line. Nothing is stored. */
  async checkPolicy(body: CheckPolicy, { signal }: Options = {}): Promise<CheckedPolicy> {
    return (await ask({ method: 'POST', path: '/v1/policies/check', body, signal }, checkedPolicySchema)).body;
  },

  /** The deciding rule of a document for a call, and the reason why each other rule does not decide. */
  async testPolicy(body: TestPolicy, { signal }: Options = {}): Promise<PolicyExplanation> {
    return (await ask({ method: 'POST', path: '/v1/policies/test', body, signal }, explanationSchema)).body;
  },

  /** The same for a stored policy. */
  async testNamedPolicy(name: string, body: TestNamedPolicy, { signal }: Options = {}): Promise<PolicyExplanation> {
    return (await ask({ method: 'POST', path: at('policies', name, '/test'), body, signal }, explanationSchema)).body;
  },

  /** A page of the verdicts of another policy on recorded calls; the next page by its `next_cursor`. */
  async replayPolicy(body: ReplayPolicy, { signal }: Options = {}): Promise<PolicyReplay> {
    return (await ask({ method: 'POST', path: '/v1/policies/replay', body, signal }, replayPageSchema)).body;
  },

  /** Rules for the calls approved by people every time. */
  async proposeRules(body: ProposeRules, { signal }: Options = {}): Promise<RuleProposals> {
    return (await ask({ method: 'POST', path: '/v1/policies/propose', body, signal }, ruleProposalsSchema)).body;
  },
});
