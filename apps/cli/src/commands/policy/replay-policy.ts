import type { Client, PolicyReplay, ReplayedCall, ReplayPolicy } from '@holdpoint/client';
import { operatorPolicyName, operatorPolicySchema, type PolicyReference } from '@holdpoint/contract';
import { attention } from '@holdpoint/policy';
import type { Command } from 'commander';
import { oneLine, plain } from '../../output/index.ts';
import { givenPolicy, readPolicy } from '../../policy/catalog-tools.ts';
import { type ApiOptions, apiCommand, count, type Shell, sinceOf } from '../../shell/index.ts';

interface ReplayOptions extends ApiOptions {
  since: string;
  policy: string;
  name?: string;
  limit: number;
}

export function replayPolicyCommand(shell: Shell): Command {
  return apiCommand('replay', 'judge the recorded calls of past runs again with another policy; changes nothing')
    .requiredOption('--since <time>', 'runs created after this: 30d, 12h, or a time in RFC 3339')
    .requiredOption('--policy <file|name>', 'the policy to try: a file, or the name of a stored one')
    .option('--name <name>', "only runs with this named policy; operator: in place of the operator's policies")
    .option('--limit <number>', 'show at most this many calls of each kind', count, 20)
    .action(async ({ url, json, since, policy, name, limit }: ReplayOptions) => {
      const candidate = await candidateOf(shell, { policy, name });
      const body = { since: sinceOf(since), policy: candidate, name };
      const replay = await replayAll(await shell.connect(url), body, json ? Number.POSITIVE_INFINITY : limit);
      if (json) return shell.printJson(replay);
      for (const line of replayText(replay, { limit, width: shell.width })) shell.print(line);
    });
}

const candidateOf = (
  { config: { environment } }: Shell,
  { policy, name }: { policy: string; name: string | undefined },
): Promise<ReplayPolicy['policy'] | PolicyReference> =>
  name === operatorPolicyName
    ? readPolicy({ file: policy, environment }, operatorPolicySchema)
    : givenPolicy(policy, { environment });

type Kind = ReplayedCall['verdict']['action'];

interface Replay extends Omit<PolicyReplay, 'changed' | 'next_cursor'> {
  newly_allowed: ReplayedCall[];
  newly_held: ReplayedCall[];
  newly_denied: ReplayedCall[];
}

/** All pages together. @param most listed calls of each kind; the counts are of all */
async function replayAll(client: Client, body: ReplayPolicy, most: number): Promise<Replay> {
  const all: Replay = {
    ...{ runs: 0, calls: 0, unchanged: 0, left_out: 0, counts: { allow: 0, hold: 0, deny: 0 } },
    ...{ newly_allowed: [], newly_held: [], newly_denied: [], not_judged: [] },
  };
  const lists: Record<Kind, ReplayedCall[]> = {
    allow: all.newly_allowed,
    hold: all.newly_held,
    deny: all.newly_denied,
  };
  let cursor: string | undefined;
  do {
    const page = await client.replayPolicy({ ...body, cursor });
    for (const field of ['runs', 'calls', 'unchanged', 'left_out'] as const) all[field] += page[field];
    for (const kind of ['allow', 'hold', 'deny'] as const) {
      all.counts[kind] += page.counts[kind];
      const found = lists[kind];
      found.push(...page.changed.filter(({ verdict }) => verdict.action === kind));
      found.sort((a, b) => concern(b) - concern(a));
      found.splice(most);
    }
    all.not_judged.push(...page.not_judged.slice(0, Math.max(0, most - all.not_judged.length)));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return all;
}

const concern = ({ was, decided }: ReplayedCall): number =>
  attention({ action: was, decision: decided ?? undefined }, 'allow');

const titles: Record<Kind, string> = { allow: 'NEWLY ALLOWED', hold: 'NEWLY HELD', deny: 'NEWLY DENIED' };

function replayText(replay: Replay, { limit, width }: { limit: number; width: number }): string[] {
  const { runs, calls, unchanged, counts, not_judged } = replay;
  const lists = { allow: replay.newly_allowed, hold: replay.newly_held, deny: replay.newly_denied };
  const judged = counts.allow + counts.hold + counts.deny + unchanged;
  return [
    `${calls} calls of ${runs} runs: ${unchanged} unchanged, ${counts.allow} newly allowed, ${counts.hold} newly held, ${counts.deny} newly denied`,
    ...(['allow', 'hold', 'deny'] as const).flatMap((kind) => [
      ...(counts[kind] === 0 ? [] : ['', titles[kind]]),
      ...lists[kind].slice(0, limit).map((call) => oneLine(callText(call), width)),
      ...(counts[kind] > limit ? [`… and ${counts[kind] - limit} more (--limit, or --json)`] : []),
    ]),
    ...(calls === judged ? [] : ['', `NOT JUDGED: ${calls - judged}`]),
    ...not_judged
      .slice(0, limit)
      .map(({ step_id, tool, reason }) => oneLine(`${step_id} ${plain(tool)}: ${reason}`, width)),
  ];
}

function callText({ step_id, tool, args, was, decided, verdict }: ReplayedCall): string {
  const by = decided?.by === undefined ? '' : ` by ${decided.by}`;
  const then = decided === null ? was : `${was}, ${decided.kind}${by}`;
  return `${step_id} ${tool} ${args}  was: ${then}; ${verdict.reason}${verdict.confirm === 'passkey' ? ' (by passkey)' : ''}`;
}
