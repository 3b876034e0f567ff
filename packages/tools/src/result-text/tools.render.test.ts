import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json, TaskView, ToolOutcome } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { createRegistry } from '../registry/registry.ts';
import { bareContext } from '../testing/bare-context.ts';
import { useWorkspace } from '../testing/workspace.ts';
import type { ToolContext } from '../tool.ts';
import { holdpoint } from '../toolsets/holdpoint/toolset.ts';
import type { ResultText } from './result-text.ts';

/** Each file of `golden/` is the text of one result, as a model reads it. */
const workspace = useWorkspace();
const registry = createRegistry([holdpoint]);

const source = 'import { a } from "./a";\n\nexport const total = (n: number) => {\n\treturn a("x\\n") + n;\n};\n';

/** The text of a settled call: by way of the value that the log keeps. */
function textOf(tool: string, outcome: ToolOutcome): ResultText {
  if (outcome.status === 'deferred') throw new Error(`${tool} waits`);
  const { status, value } = outcome;
  const error = status === 'succeeded' ? undefined : outcome.error;
  const logged = { tool, args: {}, status, value: asLogged(value), error, times, settings: {}, modes };
  const shown = registry.render('holdpoint', { tool, status, result: registry.present('holdpoint', logged) });
  if (shown === undefined) throw new Error(`${tool} has no text`);
  return shown;
}

const at = '2026-01-01T00:00:00.000Z';
const times = { created_at: at, started_at: at, settled_at: at, queued_ms: 0, duration_ms: 0 };
const modes = { read_only: false, dry_run: false, deterministic: false };
const asLogged = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null));

async function expectGolden(name: string, { head, body, isError }: ResultText): Promise<void> {
  const text = [...(isError === undefined ? [] : [`(error: ${isError})`]), head, body].join('\n');
  await expect(`${text}\n`).toMatchFileSnapshot(`golden/${name}.txt`);
}

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const notebook = {
  ...{ nbformat: 4, metadata: { kernelspec: { language: 'python' } } },
  cells: [
    { cell_type: 'markdown', source: '# Plot\ncell 9 (code)' },
    { cell_type: 'code', source: ['plot(1)\n', 'exit 0'], outputs: [{ text: 'done\noutput of cell 9\n' }] },
  ],
};

const calls: [name: string, tool: string, args: object][] = [
  ['read-file', 'read_file', { path: 'src/total.ts' }],
  ['read-file-part', 'read_file', { path: 'src/total.ts', offset: 2, limit: 2 }],
  ['read-file-crlf', 'read_file', { path: 'crlf.txt' }],
  ['read-file-controls', 'read_file', { path: 'controls.txt' }],
  ['read-file-empty', 'read_file', { path: 'empty.txt' }],
  ['read-file-missing', 'read_file', { path: 'src/totl.ts' }],
  ['read-file-past', 'read_file', { path: 'src/total.ts', offset: 90 }],
  ['write-file', 'write_file', { path: 'new.txt', content: 'one\n' }],
  ['edit', 'edit', { path: 'src/total.ts', old_string: '+ n', new_string: '- n' }],
  ['edit-no-match', 'edit', { path: 'src/total.ts', old_string: 'return a("x\\n")+n', new_string: '' }],
  [
    'multi-edit',
    'multi_edit',
    {
      path: 'src/total.ts',
      edits: [
        { old_string: '+ n', new_string: '- n' },
        { old_string: '- n;', new_string: '- n - 1;' },
      ],
    },
  ],
  [
    'multi-edit-no-match',
    'multi_edit',
    {
      path: 'src/total.ts',
      edits: [
        { old_string: '+ n', new_string: '- n' },
        { old_string: '+ n', new_string: '' },
      ],
    },
  ],
  [
    'apply-patch',
    'apply_patch',
    {
      input:
        '*** Begin Patch\n*** Update File: src/total.ts\n@@\n-\treturn a("x\\n") + n;\n+\treturn n;\n*** Add File: new.txt\n+one\n*** Delete File: empty.txt\n*** Update File: src/a.ts\n*** Move to: lib/a.ts\n*** End Patch\n',
    },
  ],
  [
    'apply-patch-no-match',
    'apply_patch',
    {
      input:
        '*** Begin Patch\n*** Update File: src/total.ts\n@@ export const total = (n: number) => {\n-\treturn b("x\\n") + n;\n+\treturn n;\n*** End Patch\n',
    },
  ],
  ['list-directory', 'list_directory', { path: '.' }],
  ['glob', 'glob', { pattern: '**/*.ts' }],
  ['glob-none', 'glob', { pattern: '*.py' }],
  ['grep', 'grep', { pattern: 'a' }],
  ['grep-context', 'grep', { pattern: 'return', context: 1 }],
  ['grep-files', 'grep', { pattern: 'a', output_mode: 'files' }],
  ['grep-counts', 'grep', { pattern: 'a', output_mode: 'count' }],
  ['bash', 'bash', { command: 'echo hi' }],
  ['bash-exit-1', 'bash', { command: 'echo "got 3, want 4"; echo warning >&2; exit 1' }],
  ['bash-stderr', 'bash', { command: 'echo problem >&2; echo again >&2; exit 2' }],
  ['bash-silent', 'bash', { command: 'true' }],
  ['bash-colours', 'bash', { command: "printf '\\e[31mred\\e[0m\\r\\n10%%\\r20%%\\n\\a\\n'" }],
  ['bash-signal', 'bash', { command: 'exec kill -TERM $$' }],
  ['bash-timeout', 'bash', { command: 'echo begun; sleep 60', timeout_s: 1 }],
  ['bash-cut', 'bash', { command: 'seq 1 200000' }],
  ['bash-background', 'bash', { command: 'sleep 60', run_in_background: true }],
  [
    'todo-write',
    'todo_write',
    {
      todos: [
        { content: 'Find it', status: 'completed' },
        { content: 'Repair it', status: 'in_progress' },
      ],
    },
  ],
  ['invalid-args', 'read_file', { file: 'a' }],
];

test.each(calls)('%s', async (name, tool, args) => {
  await workspace().put('src/total.ts', source);
  await workspace().put('src/a.ts', 'export const a = (text: string) => text.length;\n');
  await workspace().put('crlf.txt', 'one\r\ntwo\r\n');
  await workspace().put('controls.txt', 'bell \u0007 and \u001b[31mred\u001b[0m\nno end');
  await workspace().put('empty.txt', '');
  await symlink('empty.txt', join(workspace().path, 'link'));
  const { head, body, isError } = textOf(tool, await workspace().call(tool, args));
  // The golden file of a long body keeps both ends.
  const short = body.length < 2000 ? body : `${body.slice(0, 12)}…${body.slice(-14)}`;
  await expectGolden(name, { head, body: short, ...(isError === undefined ? {} : { isError }) });
});

test.each([
  ['read-file-image', 'picture.txt', png],
  ['read-file-image-cut-off', 'half.png', png.subarray(0, 50)],
  ['read-file-notebook', 'plot.ipynb', JSON.stringify(notebook)],
])('%s', async (name, path, content) => {
  await workspace().put(path, content);
  await expectGolden(name, textOf('read_file', await workspace().call('read_file', { path })));
});

const task: TaskView = { id: 'task_1', kind: 'shell', title: 'make', status: 'running', created_at: at };
const having = (view: Partial<TaskView>, printed: { stdout?: string; stderr?: string } = {}): Partial<ToolContext> => ({
  tasks: {
    ...bareContext().tasks,
    get: async () => ({ ...task, ...view }),
    kill: async () => ({ ...task, ...view }),
    send: async () => ({ status: 'sent', stdout: 0, stderr: 0 }),
    output: async (_id, { stream, from }) => {
      const text = printed[stream] ?? '';
      return { text, from, next: text.length, total: text.length, omitted: 0 };
    },
    merge: async () => ({ status: 'merged', paths: ['src/a.ts', 'b\nc.ts'] }),
  },
});

const over = { outcome: { exit_code: 2, duration_ms: 5 } } as const;
const ended: [name: string, tool: string, args: object, context: Partial<ToolContext>][] = [
  ['task-output', 'task_output', { task_id: 'task_1' }, having({}, { stdout: 'listening\n', stderr: 'slow\n' })],
  [
    'task-output-failed',
    'task_output',
    { task_id: 'task_1' },
    having({ status: 'failed', ...over }, { stdout: 'no rule\n' }),
  ],
  ['task-input', 'task_input', { task_id: 'task_1', text: '6*7', wait_s: 0.1 }, having({}, { stdout: '42\n>>> ' })],
  ['kill-shell', 'kill_shell', { task_id: 'task_1' }, having({ status: 'killed', outcome: { exit_code: null } })],
  ['task-merge', 'task_merge', { task_id: 'task_1' }, having({})],
  [
    'task',
    'task',
    { description: 'look', prompt: 'Look.' },
    {
      ...having({
        kind: 'agent',
        status: 'completed',
        outcome: { exit_code: null, message: 'Two tests fail.\nBoth in a.ts.' },
      }),
      deferred: { task_id: 'task_1', until: 0 },
    },
  ],
];

test.each(ended)('%s', async (name, tool, args, context) => {
  const outcome = await registry.execute({
    toolset: 'holdpoint',
    tool,
    args,
    context: { ...bareContext(), ...context },
  });
  await expectGolden(name, textOf(tool, outcome));
});

const page = {
  url: 'https://a.test/',
  final_url: 'https://a.test/b',
  status: 200,
  content_type: 'text/html',
  title: 'A',
};
const values: [name: string, tool: string, value: Json][] = [
  [
    'web-fetch',
    'web_fetch',
    { ...page, content: '# A\n\nexit 0', total_chars: 50_000, truncated: true, next_start: 20_000 },
  ],
  [
    'web-search',
    'web_search',
    { query: 'q', results: [{ title: 'A\nB', url: 'https://a.test/', snippet: 'Some words.' }] },
  ],
  [
    'submit-plan',
    'submit_plan',
    {
      ...{ approved: true, title: 'Repair add', plan: '# Cause\n\nadd subtracts.' },
      todos: [
        { content: 'Repair it', status: 'pending' },
        { content: 'Test it', status: 'pending' },
      ],
    },
  ],
  ['ask-user', 'ask_user', { answer: 'Use tabs.\nAlways.' }],
  [
    'code-graph',
    'code_graph',
    {
      results: [
        { name: 'a', path: 'src/a.ts', line: 1, parents: ['x'] },
        { name: 'b', path: 'src/a.ts', line: 9 },
      ],
      cursor: 'c1',
    },
  ],
  [
    'definition',
    'definition',
    {
      places: [
        { path: 'src/total.ts', line: 3, column: 14, text: 'export const total = (n: number) => {\n\treturn n;\n};' },
        { path: '/usr/lib/a.d.ts', line: 1, column: 1, text: '' },
      ],
      total: 2,
    },
  ],
  [
    'references',
    'references',
    {
      places: [
        { path: 'src/a.ts', line: 1, column: 10, text: 'import { total } from "./total.ts";' },
        { path: 'src/a.ts', line: 3, column: 7, text: 'print(total(1));' },
      ],
      total: 900,
    },
  ],
  [
    'rename',
    'rename',
    {
      files: [{ path: 'src/a.ts', change: 'changed' }],
      diff: '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-total(1);\n+sum(1);\n',
      diff_truncated: false,
      diagnostics: [{ path: 'src/a.ts', line: 1, column: 1, message: "Cannot find name 'sum'. (TS2304)" }],
      more_diagnostics: 4,
    },
  ],
  [
    'recall',
    'recall',
    {
      hits: [
        { turn: 9, kind: 'message', by: 'ada', text: 'use tabs' },
        {
          turn: 4,
          kind: 'call',
          tool: 'bash',
          status: 'succeeded',
          text: 'stdout: 3 tests failed\n[turn 1: your answer]',
        },
        { turn: 3, kind: 'answer', text: 'I look at the tests.' },
      ],
      searched_from: 3,
    },
  ],
  ['remember', 'remember', { path: '.holdpoint/notes.md', notes: 3 }],
  [
    'read-file-pdf',
    'read_file',
    {
      path: 'a.pdf',
      document: {
        total_pages: 9,
        pages: [
          { page: 3, text: 'Title\npage 4' },
          { page: 4, text: '' },
          { page: 5, text: 'long', cut: 700 },
        ],
        next_offset: 6,
      },
      bytes: 900,
      sha256: 'ab',
    },
  ],
  [
    'screenshot',
    'screenshot',
    {
      ...{ url: 'http://localhost:3000/', status: 404, title: 'A\nshop', loaded: false, cut: 9000 },
      console: ['error: no cart\nexit 0'],
      image: { media_type: 'image/png', width: 1280, height: 8000, bytes: 34_000, sha256: 'a'.repeat(64) },
    },
  ],
  [
    'read-file-pdf-kept',
    'read_file',
    {
      path: 'scan.pdf',
      document: {
        ...{ total_pages: 2, pages: [{ page: 1, text: '' }], next_offset: 2 },
        pdf: { media_type: 'application/pdf', pages: 1, bytes: 700, sha256: 'a'.repeat(64) },
      },
      bytes: 900,
      sha256: 'ab',
    },
  ],
  ['other-shape', 'bash', { dry_run: true, not_made: { tool: 'bash', args: { command: 'ls' } }, note: 'Not run.' }],
];

test.each(values)('%s', async (name, tool, value) => {
  await expectGolden(name, textOf(tool, { status: 'succeeded', value, touched: [] }));
});

test('every tool of the toolset has a text of its own', () => {
  const shown = new Set([...calls, ...ended, ...values].map(([, tool]) => tool));
  expect(holdpoint.tools.filter(({ name, render }) => render === undefined || !shown.has(name))).toEqual([]);
});

test('the words of a person who rejected a call keep their lines', () => {
  const error = { code: 'EREJECTED', message: 'Not run. They say: first\nsecond' };
  expect(textOf('bash', { status: 'rejected', error, touched: [] } as never)).toEqual({
    head: 'error EREJECTED: Not run. They say: first\nsecond',
    body: '',
  });
});
