import type { PolicyVersion } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, entriesOf, type ListOptions, type Options, type PageQuery } from './request-parts.ts';

export const policyRequests = ({ ask }: Transport) => ({
  /** The newest version of each. */
  listPolicies: async (options: ListOptions = {}): Promise<wire.PolicySummary[]> => {
    const { signal } = options;
    return entriesOf((await ask({ path: '/v1/policies', signal }, wire.policyListSchema)).body, options);
  },

  /** @param version the newest when absent */
  async getPolicy(
    name: string,
    { version, signal }: Options & { version?: number | undefined } = {},
  ): Promise<PolicyVersion> {
    const path = at('policies', name, version === undefined ? '' : `/versions/${version}`);
    return (await ask({ path, signal }, wire.storedVersionSchema)).body;
  },

  async listPolicyVersions(
    name: string,
    query: PageQuery = {},
    { signal }: Options = {},
  ): Promise<wire.Page<wire.PolicySummary>> {
    return (
      await ask({ path: at('policies', name, '/versions'), query: { ...query }, signal }, wire.policyVersionPageSchema)
    ).body;
  },

  /** `created` is false when the newest version has the same content. @param ifVersion the version to replace; 0: none */
  async putPolicy(
    name: string,
    document: wire.PutPolicy,
    { ifVersion, signal }: Options & { ifVersion?: number | undefined } = {},
  ): Promise<{ policy: PolicyVersion; created: boolean }> {
    const query = { if_version: ifVersion };
    const request = { method: 'PUT' as const, path: at('policies', name), query, body: document, signal };
    const answer = await ask(request, wire.storedVersionSchema);
    return { policy: answer.body, created: answer.status === 201 };
  },

  /** Its versions stay readable. */
  async deletePolicy(
    name: string,
    { ifVersion, signal }: Options & { ifVersion?: number | undefined } = {},
  ): Promise<wire.PolicySummary> {
    const query = { if_version: ifVersion };
    return (await ask({ method: 'DELETE', path: at('policies', name), query, signal }, wire.policySummarySchema)).body;
  },

  /** Every mistake in a text, with its line. Nothing is stored. */
  async checkPolicy(body: wire.CheckPolicy, { signal }: Options = {}): Promise<wire.CheckedPolicy> {
    return (await ask({ method: 'POST', path: '/v1/policies/check', body, signal }, wire.checkedPolicySchema)).body;
  },

  /** The deciding rule of a document for a call, and the reason why each other rule does not decide. */
  async testPolicy(body: wire.TestPolicy, { signal }: Options = {}): Promise<wire.PolicyExplanation> {
    return (await ask({ method: 'POST', path: '/v1/policies/test', body, signal }, wire.explanationSchema)).body;
  },

  /** The same for a stored policy. */
  async testNamedPolicy(
    name: string,
    body: wire.TestNamedPolicy,
    { signal }: Options = {},
  ): Promise<wire.PolicyExplanation> {
    return (await ask({ method: 'POST', path: at('policies', name, '/test'), body, signal }, wire.explanationSchema))
      .body;
  },

  /** A page of the verdicts of another policy on recorded calls; the next page by its `next_cursor`. */
  async replayPolicy(body: wire.ReplayPolicy, { signal }: Options = {}): Promise<wire.PolicyReplay> {
    return (await ask({ method: 'POST', path: '/v1/policies/replay', body, signal }, wire.replayPageSchema)).body;
  },

  /** Rules for the calls approved by people every time. */
  async proposeRules(body: wire.ProposeRules, { signal }: Options = {}): Promise<wire.RuleProposals> {
    return (await ask({ method: 'POST', path: '/v1/policies/propose', body, signal }, wire.ruleProposalsSchema)).body;
  },
});
