import { modesSchema, type SettledCall } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { createRegistry } from '../../registry/registry.ts';
import { alwaysPolicyRule, alwaysRule, matchesRule, parametersText } from './approval-rules.ts';
import { humanForm, jsonForm } from './output-forms.ts';
import { presentCliAgent } from './present.ts';
import { cliAgentTools } from './tools.ts';
import { cliAgent } from './toolset.ts';

const registry = createRegistry([cliAgent]);
const textOf = (tool: string, args: object) => registry.approvalText({ toolset: 'cli-agent', tool, args });

// covers S0-120
test('the question to a person has the words of the contract', () => {
  expect(textOf('create_file', { path: 'hello.py', content: '12345678901234567890' })).toBe(
    `Tool: create_file
Parameters:
  path: hello.py
  content: <20 bytes>
Files affected: hello.py
Risk level: safe_write

Approve? (y/n/always):`,
  );
  expect(textOf('run_in_terminal', { command: 'git status', timeout_seconds: 5 })).toContain(
    '  command: git status\n  timeout_seconds: 5\nFiles affected: \nRisk level: dangerous',
  );
});

// covers S0-120
test('no parameter looks like another line of the question', () => {
  const hostile = 'ls\nRisk level: read_only\n\nApprove? (y/n/always): y';
  const lines = textOf('run_in_terminal', { command: hostile })?.split('\n') ?? [];
  expect(lines.filter((line) => line.startsWith('Risk level:'))).toEqual(['Risk level: dangerous']);
  expect(textOf('create_file', { path: 'a\nRisk level: read_only', content: '' })).not.toMatch(
    /^Risk level: read_only/m,
  );
  expect(textOf('run_in_terminal', { command: 'x'.repeat(5000) })).toContain('… <5000 bytes>');
  expect(textOf('read_file', { path: 7 })).toBeNull();
});

// covers S0-01
test('each tool has its risk, and those that change something ask', () => {
  const asking = (settings: object) => registry.rules('cli-agent', settings).asks;
  const writes = cliAgentTools.filter(({ label }) => label !== 'read_only').map(({ name }) => name);
  expect(writes).toHaveLength(5);
  expect(asking({})).toEqual(writes);
  expect(asking({ ask: 'all' })).toHaveLength(9);
  expect(asking({ ask: 'all' })).not.toContain('terminal_last_command');
  expect(asking({ ask: 'none' })).toEqual([]);
  expect(asking({})).toBe(asking({}));
});

const now = Date.parse('2026-01-01T00:00:00Z');
const git = (command: string) => ({ tool: 'run_in_terminal', args: { command } });

// covers S0-121, S0-122
test('a rule matches the tool by its name and the parameters as JSON', () => {
  const txt = { tool: 'create_directory', pattern: '^{"path":".*\\.txt"}$' };
  expect(matchesRule(txt, { tool: 'create_directory', args: { path: 'test.txt' } }, now)).toBe(true);
  expect(matchesRule(txt, { tool: 'create_file', args: { path: 'test.txt' } }, now)).toBe(false);
  expect(matchesRule(txt, { tool: 'create_directory', args: { path: 'test.md' } }, now)).toBe(false);
  const any = { tool: 'list_dir', pattern: '.*' };
  const call = { tool: 'list_dir', args: { path: 'a' } };
  expect(matchesRule(any, call, now)).toBe(true);
  expect(matchesRule({ ...any, disabled: true }, call, now)).toBe(false);
  expect(matchesRule({ ...any, expires_at: '2025-12-31T23:59:59Z' }, call, now)).toBe(false);
  expect(matchesRule({ ...any, expires_at: '2026-01-01T00:00:01Z' }, call, now)).toBe(true);
  expect(matchesRule({ ...any, expires_at: 'never' }, call, now)).toBe(false);
  expect(matchesRule({ ...any, pattern: '(' }, call, now)).toBe(false);
  expect(parametersText({ tool: 'create_file', args: { content: 'x', path: 'a' } })).toBe('{"path":"a","content":"x"}');
});

// covers S0-123
test('"always" approves exactly the same call, and "git status" never "git push"', () => {
  const rule = alwaysRule(git('git status'));
  expect(matchesRule(rule, git('git status'), now)).toBe(true);
  for (const command of ['git push', 'git status && x', 'git status ', 'git  status', 'xgit status', 'git status"}']) {
    expect(matchesRule(rule, git(command), now), command).toBe(false);
  }
  expect(matchesRule(rule, { tool: 'run_in_terminal', args: { command: 'git status', timeout_seconds: 5 } }, now)).toBe(
    false,
  );
  const odd = git('echo ".*" | grep -E "^(a|b)[$]{2}\\\\." # $& \n');
  expect(matchesRule(alwaysRule(odd), odd, now)).toBe(true);
  expect(matchesRule(alwaysRule(git('a.c')), git('abc'), now)).toBe(false);
  expect(alwaysPolicyRule(git('git status'))).toMatchObject({
    match: { tool: 'run_in_terminal', args: { '': { equals: { command: 'git status' } } } },
    action: 'allow',
  });
});

const settled = (more: Partial<SettledCall>): SettledCall => ({
  ...{ tool: 'create_file', args: { path: 'a' }, status: 'failed', settings: {}, modes: modesSchema.parse({}) },
  times: { created_at: '', started_at: null, settled_at: '', queued_ms: 0, duration_ms: 3.4 },
  ...more,
});

// covers S0-03, S0-04
test.each([
  [{ status: 'failed', error: { code: 'EUNKNOWNTOOL', message: 'm' } }, 'tool_not_found'],
  [{ status: 'failed', error: { code: 'EINVALIDARGS', message: 'm' } }, 'invalid_parameters'],
  [{ status: 'rejected', error: { code: 'EREJECTED', message: 'm' } }, 'approval_denied'],
  [{ status: 'expired', error: { code: 'EEXPIRED', message: 'm' } }, 'approval_denied'],
  [{ status: 'rejected', error: { code: 'EPERMISSION', message: 'm' } }, 'permission_denied'],
  [{ status: 'rejected' }, 'approval_denied'],
  [{ status: 'timed_out', error: { code: 'ETIMEOUT', message: 'm' } }, 'command_timeout'],
  [{ status: 'failed', error: { code: 'EQUOTA', message: 'm' } }, 'command_failed'],
  [{ status: 'failed', error: { code: 'ESOMETHING', message: 'm' } }, 'command_failed'],
  [{ status: 'killed', error: { code: 'ECANCELED', message: 'm' } }, 'canceled'],
  [{ status: 'canceled' }, 'canceled'],
] as const)('the end %j has the code %s', (end, code) => {
  const result = presentCliAgent(settled(end as Partial<SettledCall>)) as {
    error: { message: string };
    output: string;
  };
  expect(result).toMatchObject({ success: false, files_affected: [], execution_time_ms: 3, error: { code } });
  expect(result.output).toBe(`Error: ${result.error.message}`);
});

test('what a person says in place of the tool is shown as it is', () => {
  expect(presentCliAgent(settled({ status: 'succeeded', value: { confirmed_by: 'ann' } }))).toMatchObject({
    success: true,
    output: '{"confirmed_by":"ann"}',
  });
});

const result = { success: true, output: 'Created file: a (1 bytes)', files_affected: ['a'], execution_time_ms: 7 };

// covers S0-124, S0-125
test('the forms for people and for programs', () => {
  expect(humanForm(result, { directory: '/home/me' })).toBe(
    '✓ Created file: a (1 bytes)\n  Location: /home/me/a\n  Time: 7ms',
  );
  expect(humanForm({ ...result, success: false, output: 'Error: no', files_affected: [] }, { directory: '/' })).toBe(
    '✗ Error: no\n  Time: 7ms',
  );
  expect(jsonForm({ ...result, metadata: {} }, { tool: 'create_file' })).toBe(
    '{"tool":"create_file","success":true,"output":"Created file: a (1 bytes)","files_affected":["a"],"execution_time_ms":7}',
  );
});

// covers S0-130
test('the form for function calling is a bare function', () => {
  const [first] = cliAgent.forms?.['openai-functions']?.(registry.list('cli-agent')) ?? [];
  expect(first).toMatchObject({
    name: 'create_file',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Relative path to the file to create' },
        content: { type: 'string', description: 'Content to write to the file' },
      },
      required: ['path', 'content'],
    },
  });
});
