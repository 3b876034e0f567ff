import {
  type Page,
  type RememberedRule,
  rememberedRulePageSchema,
  rememberedRuleSchema,
} from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, type Options, type PageQuery } from './request-parts.ts';

export const ruleRequests = ({ ask }: Transport) => ({
  /** The remembered rules in force, newest first. */
  async listRules(
    query: PageQuery & { run_id?: string | undefined } = {},
    { signal }: Options = {},
  ): Promise<Page<RememberedRule>> {
    return (await ask({ path: '/v1/rules', query: { ...query }, signal }, rememberedRulePageSchema)).body;
  },

  getRule: async (id: string, { signal }: Options = {}): Promise<RememberedRule> =>
    (await ask({ path: at('rules', id), signal }, rememberedRuleSchema)).body,

  /** The rule decides no later call. Again: no-op. */
  revokeRule: async (id: string, { signal }: Options = {}): Promise<RememberedRule> =>
    (await ask({ method: 'DELETE', path: at('rules', id), signal }, rememberedRuleSchema)).body,
});
