import type { Approval, Decide } from '@holdpoint/contract/wire';
import { codeText, nameText, oneLine, plain } from '@holdpoint/readable';

type Deciders = Approval['deciders'][number];

/** Who may decide and who has; undefined where every caller with the scope may. */
export function deciderText({
  deciders,
  escalated_to,
  delegations,
  votes,
  quorum,
  edited_by,
}: Approval): string | undefined {
  if (deciders.length === 0) return undefined;
  const lines = [
    deciders.map(entryText).join('; and '),
    ...(escalated_to.length === 0 ? [] : [`since the escalation also ${names(escalated_to)}`]),
    ...delegations.map(({ from, to }) => `${nameText(from)} lets ${nameText(to)} decide`),
    ...(edited_by.length === 0 ? [] : [`edited by ${names(edited_by)}: another person confirms`]),
    ...(votes.length === 0 ? [] : [votesText(votes, quorum)]),
  ];
  return lines.join('\n');
}

function votesText(votes: Approval['votes'], quorum: Approval['quorum']): string {
  const by = names(votes.map((one) => one.by));
  return quorum === null
    ? `approved so far by ${by}`
    : `approved so far: ${quorum.approved} of ${quorum.needed}, by ${by}`;
}

function entryText({ names: globs, kinds, quorum = 1, not_submitter }: Deciders): string {
  const who = globs === undefined ? 'any caller' : names(globs);
  return [
    quorum > 1 ? `${quorum} of: ${who}` : who,
    kinds && `(${kinds.join(' or ')})`,
    not_submitter && 'except who submitted the run, sent the call or edited it',
  ]
    .filter(Boolean)
    .join(' ');
}

const names = (all: readonly string[]): string => all.map((one) => nameText(one)).join(', ');

/** The policy rule behind the hold. */
export const ruleText = ({ rule }: Approval): string | undefined =>
  rule === null
    ? undefined
    : `${rule.name === undefined ? `rule ${rule.index + 1}` : oneLine(rule.name, 100)} of the ${rule.policy} policy${rule.version === undefined ? '' : `, version ${rule.version}`}`;

/** The two versions of an edited call, line by line where they differ. */
export function changesText({ decision }: Approval): string[] {
  if (decision === null || decision.changes.length === 0) return [];
  return decision.changes.flatMap(({ pointer, asked, ran }) => [
    `  ${plain(pointer) || '(all)'}`,
    ...(asked === undefined ? [] : valueLines('-', asked)),
    ...(ran === undefined ? [] : valueLines('+', ran)),
  ]);
}

const valueLines = (mark: string, value: unknown): string[] =>
  codeText(typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'null'))
    .split('\n')
    .map((line) => `  ${mark} ${line}`);

/** The rule made by remembering the decision, and the rules that are there. */
export function proposalText({ remembers, remembered }: Approval, decision: Decide['decision']): string[] {
  if (remembers === null) return [];
  const { toolset, tool, args, effect, reaches, leaves_out, call_digest, tenant } = remembers;
  return [
    decision === 'reject'
      ? 'The same call would be rejected without a question, and the planner reads not to try it again:'
      : 'The same call would need no decision any more, whatever its files are by then:',
    `  call      ${nameText(toolset)}/${nameText(tool)} (${effect})`,
    `  network   ${reaches === null || reaches.length === 0 ? 'none' : names(reaches)}`,
    `  arguments exactly ${codeText(JSON.stringify(args) ?? '')}`,
    ...(leaves_out.length === 0 ? [] : [`  but for   ${names(leaves_out)}, which may differ`]),
    `  digest    ${call_digest}`,
    `  tenant    ${tenant}`,
    ...contradictionText({ remembered }, decision),
  ];
}

/** The remembered rules about the call that say the opposite of a decision. */
export const contradictionText = (
  { remembered }: Pick<Approval, 'remembered'>,
  decision: Decide['decision'],
): string[] =>
  (remembered ?? [])
    .filter((rule) => rule.decision !== decision)
    .map((rule) => {
      const verb = rule.decision === 'approve' ? 'approves' : 'rejects';
      const scope = rule.scope === 'run' ? 'in this run' : 'in all runs';
      return `  but       ${rule.rule_id} of ${nameText(rule.created_by)} ${verb} this call ${scope}; a rejection wins`;
    });
