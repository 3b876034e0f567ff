import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, type Options, type PageQuery } from './request-parts.ts';

export const ruleRequests = ({ ask }: Transport) => ({
  /** The remembered rules in force, newest first. */
  async listRules(
    query: PageQuery & { run_id?: string | undefined } = {},
    { signal }: Options = {},
  ): Promise<wire.Page<wire.RememberedRule>> {
    return (await ask({ path: '/v1/rules', query: { ...query }, signal }, wire.rememberedRulePageSchema)).body;
  },

  getRule: async (id: string, { signal }: Options = {}): Promise<wire.RememberedRule> =>
    (await ask({ path: at('rules', id), signal }, wire.rememberedRuleSchema)).body,

  /** The rule decides no later call. Again: no-op. */
  revokeRule: async (id: string, { signal }: Options = {}): Promise<wire.RememberedRule> =>
    (await ask({ method: 'DELETE', path: at('rules', id), signal }, wire.rememberedRuleSchema)).body,
});
