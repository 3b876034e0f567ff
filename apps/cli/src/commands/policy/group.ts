import { Command } from 'commander';
import type { Shell } from '../../shell/index.ts';
import * as policies from './policies.ts';
import { checkPolicyCommand, testPolicyCommand } from './policy.ts';
import { proposeRulesCommand } from './propose-rules.ts';
import { replayPolicyCommand } from './replay-policy.ts';

export function policyGroup(shell: Shell): Command {
  const policy = new Command('policy').description('check, try and store policies');
  policy.addCommand(checkPolicyCommand(shell));
  policy.addCommand(testPolicyCommand(shell));
  policy.addCommand(policies.listPoliciesCommand(shell));
  policy.addCommand(policies.showPolicyCommand(shell));
  policy.addCommand(policies.putPolicyCommand(shell));
  policy.addCommand(policies.listVersionsCommand(shell));
  policy.addCommand(policies.deletePolicyCommand(shell));
  policy.addCommand(replayPolicyCommand(shell));
  policy.addCommand(proposeRulesCommand(shell));
  return policy;
}
