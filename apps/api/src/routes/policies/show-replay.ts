import type { PolicyReplay, ReplayedCall, RuleProposal } from '@holdpoint/contract/wire';
import type { Engine } from '@holdpoint/engine';

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
}: Page): Omit<PolicyReplay, 'damaged'> {
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

export const showProposal = ({ calls, ...proposal }: Proposal): RuleProposal => ({
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
}: Omit<Call, 'verdict'>): Omit<ReplayedCall, 'verdict'> => ({
  ...{ run_id: runId, step_id: stepId, tool, at, was },
  args: textOf(args),
  decided: decision ?? null,
});

const longestText = 500;

function textOf(args: unknown): string {
  const text = JSON.stringify(args);
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}
