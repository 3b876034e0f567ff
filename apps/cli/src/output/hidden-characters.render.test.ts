import type { Approval, Diff, PublishPlan } from '@holdpoint/contract/wire';
import { publishPlanSchema } from '@holdpoint/contract/wire';
import { expect, it } from 'vitest';
import { colorsFor } from '../shell/index.ts';
import { approvalTable, approvalText, briefApproval } from './approval-text.ts';
import { diffStat, diffText } from './diff-text.ts';
import { publishPlanText } from './publish-text.ts';

/** Controls, a line end of a terminal, and characters that turn the direction of the text. */
const hidden = '\u001b[2J\r\u0007\u202e\u2066\u200f';
const poisoned = (text: string) => `${text}${hidden}`;
const colors = colorsFor(false);
const now = Date.parse('2026-01-02T00:00:00Z');

/** A plan as an earlier version stored it: the names of a publish request were not checked then. */
const plan: PublishPlan = publishPlanSchema.parse({
  ...{ candidate: '0'.repeat(40), digest: 'sha256:0' },
  target: {
    ...{ type: 'git', path: poisoned('/src'), branch: poisoned('refs/heads/main'), from: null, how: 'create' },
    ...{ commit: null, message: `${poisoned('one')}\n${poisoned('two')}` },
    author: { name: poisoned('A'), email: poisoned('a@example.org') },
  },
  files: [
    { path: poisoned('a.txt'), status: 'added', old_mode: null, new_mode: '100644', moved_from: poisoned('b.txt') },
    { path: poisoned('b.txt'), status: 'deleted', old_mode: '100644', new_mode: null, moved_to: poisoned('a.txt') },
    { path: poisoned('c.txt'), status: 'modified', old_mode: '100644', new_mode: '100644' },
  ],
  left_out: [{ path: poisoned('out/'), reason: 'ignored', files: 1, bytes: 1 }],
  conflicts: [{ path: poisoned('d.txt'), reason: 'changed_in_source', detail: poisoned('changed') }],
});

const approval = {
  ...{ id: 'apr_1', run_id: 'run_1', run_title: poisoned('title'), step_id: null, kind: 'publish', status: 'pending' },
  ...{ risk: 'high', reason: poisoned('held'), action_digest: 'sha256:0', allowed_decisions: ['approve'] },
  ...{
    display: poisoned('shown'),
    preview: plan,
    changed: null,
    superseded_by: null,
    replaces: null,
    preview_request: null,
    cut: null,
    rule: null,
  },
  action: {
    ...{ toolset: 'holdpoint', tool: 'publish', effect: 'external' },
    args: { branch: poisoned('refs/heads/main'), message: poisoned('one') },
  },
  ...{ requested_at: '2026-01-01T00:00:00Z', expires_at: '2026-01-08T00:00:00Z', decision: null },
  ...{ may_write: [], unknown: [], repositories: [], files_unread: null, edited_by: [], other_policy: false },
  ...{ quorum: null, reaches: null, deciders: [], escalated_to: [], delegations: [], votes: [], on_expiry: 'reject' },
  ...{ remembers: null, readable: { action: '', args: '', preview: null, hidden: true } },
} as unknown as Approval;

const diff: Diff = {
  ...{ run_id: 'run_1', dry_run: false, from: 'a', to: 'b', additions: 1, deletions: 1, left_out: plan.left_out },
  files: [
    {
      ...{ path: poisoned('a.txt'), moved_from: poisoned('b.txt'), status: 'modified', binary: false },
      ...{ old_mode: '100644', new_mode: '100644', additions: 1, deletions: 1 },
      hunks: [{ old_start: 1, old_lines: 1, new_start: 1, new_lines: 1, lines: [poisoned('-a'), poisoned('+b')] }],
    },
    {
      ...{ path: poisoned('c.txt'), status: 'modified', binary: false, old_mode: '100644', new_mode: '100644' },
      ...{ additions: 0, deletions: 0, hunks: [] },
      unreadable: { code: 'EWORKSPACECORRUPT', message: poisoned('lost'), next: poisoned('restore') },
    },
  ],
};

it.each<[string, () => string[]]>([
  ['the plan of a publish', () => publishPlanText(plan, colors)],
  ['the plan with hunks', () => publishPlanText(plan, colors, { hunksFollow: true })],
  ['an approval', () => approvalText(approval, { colors, now })],
  ['an approval of a followed run', () => briefApproval(approval, { colors, now })],
  ['the list of approvals', () => approvalTable([approval], now)],
  ['the files of a diff', () => diffStat(diff, colors)],
  ['a diff', () => diffText(diff, colors)],
])('%s shows each hidden character of a name', (_name, render) => {
  const text = render().join('\n');
  expect(text).toContain('<U+202E>');
  expect(text).not.toMatch(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u);
});
