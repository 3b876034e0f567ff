import type { Approval } from '@holdpoint/client/wire/approval';
import { expect, it } from 'vitest';
import { approvalText } from './approval-text.ts';
import { colorsFor } from './colors.ts';

const now = Date.parse('2026-01-02T00:00:00Z');
const command = { kind: 'command', command: 'npm test', cwd: '.', network: [] as string[] };
const approval = (given: object) =>
  ({
    ...{ id: 'apr_1', run_id: 'run_1', run_title: 'a title', step_id: 'step_1', kind: 'action', status: 'pending' },
    ...{ risk: 'high', reason: 'the policy holds it', action_digest: 'sha256:0', allowed_decisions: ['approve'] },
    action: { toolset: 'holdpoint', tool: 'bash', effect: 'external', args: { command: 'npm test' } },
    ...{ requested_at: '2026-01-01T00:00:00Z', expires_at: '2026-01-08T00:00:00Z', decision: null, preview: command },
    ...{ changed: null, may_write: [], unknown: [], repositories: [], superseded_by: null },
    ...given,
  }) as unknown as Approval;
const shown = (given: object) => approvalText(approval(given), { colors: colorsFor(false), now }).join('\n');

it('names every host that a command may reach, in full', () => {
  const network = ['registry.npmjs.org', 'evil.example', 'x.y', 'ехample.org'];
  expect(shown({ preview: { ...command, network } })).toContain(
    'It would run in ., and may reach registry.npmjs.org, evil.example, x.y, <U+0435><U+0445>ample.org:',
  );
});

it('a title or a reason cannot look like a line of its own', () => {
  const text = shown({ run_title: 'x)\nstatus: approved', reason: 'because\nstatus  approved' });
  expect(text.match(/^status/gm)).toHaveLength(1);
  expect(text).toContain('run_1 (x) status: approved)');
});

it('says that there are characters which cannot be seen', () => {
  expect(shown({})).not.toContain('beware');
  const text = shown({ preview: { ...command, command: 'rm\u200b -rf' } });
  expect(text).toMatch(/^beware/m);
  expect(text).toContain('rm<U+200B> -rf');
});
