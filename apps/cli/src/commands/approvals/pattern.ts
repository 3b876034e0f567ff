import { confirm, isCancel } from '@clack/prompts';
import type { ApprovalPattern } from '@holdpoint/contract/wire';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { oneLine, plain } from '../../output/index.ts';
import { type ApiOptions, apiCommand, CliError, commandLine, count, type Shell, sinceOf } from '../../shell/index.ts';

interface PatternOptions extends ApiOptions {
  since?: string;
  least: number;
  digest?: string;
  name?: string;
}

/** Shows the rules and their replay; puts exactly these into the policy after a confirmation on the terminal, or with their digest. */
export function patternCommand(shell: Shell): Command {
  return apiCommand(
    'pattern',
    'find rules for calls like a decided one, shown on past calls; asks before it changes a policy',
  )
    .argument('<approval>', 'id of the approval')
    .option('--since <time>', 'runs created after this: 30d, 12h, or a time in RFC 3339 (default: 30d)')
    .option('--least <number>', 'approvals that a pattern needs', count, 3)
    .option('--digest <sha256:…>', 'put the rules into the policy if they still have this digest')
    .option('--name <name>', 'of a new policy, where the run has none with a name')
    .action(async (id: string, { url, json, since, least, digest, name }: PatternOptions) => {
      const client = await shell.connect(url);
      const query = { since: since === undefined ? undefined : sinceOf(since), least };
      const shown = await client.getApprovalPattern(id, query);
      if (!json) for (const line of patternText(shown, shell.width)) shell.print(line);
      if (!(await isConfirmed(shell, shown, { digest, name, json }))) return json ? shell.printJson(shown) : undefined;
      const { rules = [] } = shown.proposal ?? {};
      const body = { digest: digest ?? shown.proposal?.digest ?? '', rules, since: shown.since, least, name };
      const policy = await client.confirmApprovalPattern(id, body);
      if (json) return shell.printJson(policy);
      shell.print(`${policy.name} has version ${policy.version} now: runs that name it from now on have the rules`);
    });
}

/** @throws CliError `usage` for a digest where nothing can be confirmed */
async function isConfirmed(
  shell: Shell,
  { proposal, policy, approval_id }: ApprovalPattern,
  { digest, name, json }: Pick<PatternOptions, 'digest' | 'name' | 'json'>,
): Promise<boolean> {
  if (digest !== undefined && proposal === null) throw new CliError('usage', 'There is no pattern to confirm.');
  if (proposal === null || digest !== undefined) return proposal !== null;
  if (policy === null && name === undefined) {
    shell.say('The run has no policy with a name: pass --name to put the rules into a new one.');
    return false;
  }
  if (json || !shell.interactive) {
    if (!json) shell.say(`confirm:  ${commandLine('approvals', 'pattern', approval_id, '--digest', proposal.digest)}`);
    return false;
  }
  const answer = await confirm({
    message: `Put exactly these rules into ${policy?.name ?? name}?`,
    initialValue: false,
  });
  return !isCancel(answer) && answer;
}

const mostShown = 10;

function patternText({ proposal, replay, policy, why_not }: ApprovalPattern, width: number): string[] {
  if (proposal === null || replay === null) return [`No pattern: ${plain(why_not ?? '')}.`];
  const { counts, changed, calls, runs, damaged, complete } = replay;
  return [
    `${proposal.summary}:`,
    ...stringify(proposal.rules)
      .trimEnd()
      .split('\n')
      .map((line) => `  ${plain(line)}`),
    policy === null
      ? 'They would go into a new policy.'
      : `They would go into ${policy.name}, after version ${policy.version}.`,
    `On ${calls} calls of ${complete ? '' : 'the newest '}${runs} runs: ${counts.allow} newly allowed, ${counts.hold} newly held, ${counts.deny} newly denied${damaged === 0 ? '' : `; ${damaged} runs cannot be read`}`,
    ...changed
      .slice(0, mostShown)
      .map((call) =>
        oneLine(`  ${call.was} → ${call.verdict.action}  ${call.step_id} ${call.tool} ${call.args}`, width),
      ),
    ...(changed.length > mostShown ? [`  … and ${changed.length - mostShown} more (--json)`] : []),
    `digest: ${proposal.digest}`,
  ];
}
