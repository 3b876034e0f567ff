import { Command } from 'commander';
import type { Shell } from '../../shell/index.ts';
import {
  deletePolicyCommand,
  listPoliciesCommand,
  listVersionsCommand,
  putPolicyCommand,
  showPolicyCommand,
} from './policies.ts';
import { checkPolicyCommand, testPolicyCommand } from './policy.ts';
import { proposeRulesCommand } from './propose-rules.ts';
import { replayPolicyCommand } from './replay-policy.ts';

export function policyGroup(shell: Shell): Command {
  const policy = new Command('policy').description('check, try and store policies');
  policy.addCommand(checkPolicyCommand(shell));
  policy.addCommand(testPolicyCommand(shell));
  policy.addCommand(listPoliciesCommand(shell));
  policy.addCommand(showPolicyCommand(shell));
  policy.addCommand(putPolicyCommand(shell));
  policy.addCommand(listVersionsCommand(shell));
  policy.addCommand(deletePolicyCommand(shell));
  policy.addCommand(replayPolicyCommand(shell));
  policy.addCommand(proposeRulesCommand(shell));
  return policy;
}
