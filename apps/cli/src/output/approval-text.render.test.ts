import type { Approval } from '@holdpoint/contract/wire';
import { expect, it } from 'vitest';
import { colorsFor } from '../shell/index.ts';
import { approvalText } from './approval-text.ts';

const now = Date.parse('2026-01-02T00:00:00Z');
const command = { kind: 'command', command: 'npm test', cwd: '.', network: [] as string[] };
const approval = (given: object) =>
  ({
    ...{ id: 'apr_1', run_id: 'run_1', run_title: 'a title', step_id: 'step_1', kind: 'action', status: 'pending' },
    ...{ risk: 'high', reason: 'the policy holds it', action_digest: 'sha256:0', allowed_decisions: ['approve'] },
    display: null,
    action: { toolset: 'holdpoint', tool: 'bash', effect: 'external', args: { command: 'npm test' } },
    ...{ requested_at: '2026-01-01T00:00:00Z', expires_at: '2026-01-08T00:00:00Z', decision: null, preview: command },
    ...{
      changed: null,
      may_write: [],
      unknown: [],
      repositories: [],
      files_unread: null,
      edited_by: [],
      other_policy: false,
      quorum: null,
      superseded_by: null,
      replaces: null,
      preview_request: null,
      cut: null,
      rule: null,
    },
    ...{
      reaches: null,
      deciders: [],
      escalated_to: [],
      delegations: [],
      votes: [],
      on_expiry: 'reject',
      remembers: null,
    },
    readable: { action: '', args: '', preview: null, hidden: false },
    ...given,
  }) as unknown as Approval;
const shown = (given: object) => approvalText(approval(given), { colors: colorsFor(false), now }).join('\n');

it('names every host that a command may reach', () => {
  const network = ['registry.npmjs.org', 'evil.example', 'x.y', 'ехample.org'];
  expect(shown({ preview: { ...command, network } })).toContain(
    'It would run in ., and may reach registry.npmjs.org, evil.example, x.y, <U+0435><U+0445>ample.org:',
  );
});

it('a title or a reason cannot imitate another line', () => {
  const text = shown({ run_title: 'x)\nstatus: approved', reason: 'because\nstatus  approved' });
  expect(text.match(/^status/gm)).toHaveLength(1);
  expect(text).toContain('run_1 (x) status: approved)');
});

it('warns of invisible characters', () => {
  expect(shown({})).not.toContain('beware');
  const readable = { action: '', args: '', preview: null, hidden: true };
  const text = shown({ preview: { ...command, command: 'rm\u200b -rf' }, readable });
  expect(text).toMatch(/^beware/m);
  expect(text).toContain('rm<U+200B> -rf');
});

it('shows the configuration of a nested repository', () => {
  const nested = { path: 'sub/.git/', files: 1, bytes: 10, configuration: 'config:\n[alias]\n\tst = !evil\u200b' };
  const text = shown({ repositories: [{ path: '.git/', files: 2, bytes: 90, configuration: null }, nested] });
  expect(text).toContain('  .git/  2 files');
  expect(text).toContain('git commands in sub/ run programs that its configuration names:');
  expect(text).toContain('st = !evil<U+200B>');
});

it('says that a command would run in the background', () => {
  expect(shown({ preview: { ...command, background: true } })).toContain('may change the files while it runs');
  expect(shown({})).not.toContain('may change the files while it runs');
});

it('shows what a merge would change', () => {
  const merge = {
    kind: 'merge',
    task_id: 'task_1',
    run_id: 'run_2',
    snapshot: 'ab12',
    total: 2,
    patch: '+new\n',
    cut: true,
  };
  const text = shown({ preview: { ...merge, changes: [{ path: 'a.txt', change: 'added' }] } });
  expect(text).toContain('snapshot ab12 of run_2');
  expect(text).toMatch(/added +a\.txt/);
  expect(text).toContain('and 1 more');
  expect(text).toContain('+new');
  expect(text).toContain('runs diff run_2');
});

it('shows the output and the diff of a result, and that approving applies it', () => {
  const preview = {
    ...{ kind: 'result', base: '0', snapshot: '1', status: 'failed', value: { stdout: 'out\u202e\n', stderr: 'err' } },
    ...{ error: { code: 'EEXIT', message: 'exit code 1' }, duration_ms: 1, files_changed: 1, skipped: 0 },
    ...{ changes: [{ path: 'a.txt', change: 'modified' }], total: 1, patch: '--- a/a.txt\n+++ b/a.txt\n', cut: false },
  };
  const text = shown({ preview });
  expect(text).toContain('Approving applies exactly this, and nothing runs again');
  expect(text).toContain('failed: EEXIT: exit code 1');
  expect(text).toContain('out<U+202E>');
  expect(text).toContain('modified  a.txt');
});
