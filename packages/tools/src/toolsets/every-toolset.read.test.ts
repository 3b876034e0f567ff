import type { Json } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { createRegistry } from '../registry/registry.ts';
import { everyToolset } from './every-toolset.ts';
import { workbenchExtra } from './workbench/extra/index.ts';

const toolsets = everyToolset.map((toolset) =>
  toolset.name === workbenchExtra.addsTo ? { ...toolset, tools: [...toolset.tools, ...workbenchExtra.tools] } : toolset,
);
const registry = createRegistry(toolsets);

/** Paths as `access path`, then hosts, then the command. */
const touching = (toolset: string, tool: string, args: Json) => {
  const described = registry.describe({ toolset, tool, args });
  if (!described.ok) throw new Error(`${toolset}.${tool}: ${described.error.message}`);
  const { paths, hosts, command, argv } = described.touches;
  return [...paths.map(({ access, path }) => `${access} ${path}`), ...hosts, ...[command ?? argv ?? []].flat()];
};

const url = 'https://a.example/x';
const engine = 'html.duckduckgo.com:443';
/** Arguments of each tool, and what the gate judges them by. */
const rows: Record<string, Record<string, [args: Json, touched: string[]]>> = {
  holdpoint: {
    read_file: [{ path: './a/../b' }, ['read b']],
    write_file: [{ path: 'b', content: '' }, ['write b']],
    edit: [{ path: 'b', old_string: 'x', new_string: 'y' }, ['write b']],
    multi_edit: [{ path: 'b', edits: [{ old_string: 'x', new_string: 'y' }] }, ['write b']],
    apply_patch: [
      {
        input:
          '*** Begin Patch\n*** Update File: a\n*** Move to: x/../b\n*** Delete File: /workspace/d\n*** Add File: ../e\n+\n*** End Patch',
      },
      ['write a', 'write b', 'write /e', 'delete d'],
    ],
    list_directory: [{ path: 'd' }, ['read d']],
    glob: [{ pattern: '*', path: 'd' }, ['read d']],
    grep: [{ pattern: 'x', path: '/workspace/d' }, ['read d']],
    code_graph: [{ query: 'files' }, []],
    definition: [{ path: 'b', line: 1, symbol: 'x' }, ['read b']],
    references: [{ path: 'b', line: 1, symbol: 'x' }, ['read b']],
    rename: [{ path: 'b', line: 1, symbol: 'x', new_name: 'y' }, ['write .']],
    bash: [{ command: 'ls d' }, ['ls d']],
    web_fetch: [{ url }, ['a.example:443']],
    web_search: [{ query: 'q' }, [engine]],
    todo_write: [{ todos: [] }, []],
    recall: [{ query: 'a b' }, []],
    remember: [{ note: 'Tests need make.' }, ['write .holdpoint/notes.md']],
    submit_plan: [{ title: 'a', plan: 'b', todos: [{ content: 'c' }] }, []],
    ask_user: [{ question: 'Which?' }, []],
    task: [{ description: 'look', prompt: 'Look.' }, []],
    task_output: [{ task_id: 'task_1' }, []],
    task_input: [{ task_id: 'task_1', text: 'ls d' }, ['ls d']],
    task_merge: [{ task_id: 'task_1' }, []],
    kill_shell: [{ task_id: 'task_1' }, []],
    screenshot: [{ serve: 'npm start', url: 'http://localhost:3000/' }, ['npm start']],
  },
  ryan: {
    execute_bash: [{ command: 'ls d' }, ['ls d']],
    read_file: [{ path: 'b' }, ['read b']],
  },
  'cli-agent': {
    create_file: [{ path: 'b', content: '' }, ['write b']],
    read_file: [{ path: '../b' }, ['read /b']],
    replace_string_in_file: [{ path: 'b', old_string: 'x', new_string: '' }, ['write b']],
    list_dir: [{ path: 'd' }, ['read d']],
    file_search: [{ pattern: '*', base_path: 'd' }, ['read d']],
    grep_search: [{ pattern: 'x' }, ['read .']],
    run_in_terminal: [{ command: 'ls d' }, ['ls d']],
    terminal_last_command: [{}, []],
    create_directory: [{ path: 'd' }, ['write d']],
    fetch_webpage: [{ url }, ['a.example:443']],
  },
  'claude-code': {
    Bash: [{ command: 'ls d' }, ['ls d']],
    Read: [{ file_path: '/workspace/b' }, ['read b']],
    Write: [{ file_path: '/workspace/./b', content: '' }, ['write b']],
    Edit: [{ file_path: '/workspace/b', old_string: 'x', new_string: 'y' }, ['write b']],
    NotebookEdit: [{ notebook_path: '/workspace/b.ipynb' }, ['write b.ipynb']],
    Glob: [{ pattern: '*', path: '/workspace/d' }, ['read d']],
    Grep: [{ pattern: 'x' }, ['read .']],
  },
  workbench: {
    list_directory: [{ path: 'd' }, ['read d']],
    read_file: [{ path: 'b' }, ['read b']],
    write_file: [{ path: 'b', content: '' }, ['write b']],
    delete_file: [{ path: 'b' }, ['delete b']],
    move_file: [{ from: 'a', to: 'b' }, ['write a', 'write b']],
    run_code: [{ language: 'bash', code: 'ls d' }, ['ls d']],
    web_fetch: [{ url: 'http://[::1]:81/' }, ['[::1]:81']],
    web_search: [{ query: 'q' }, [engine]],
    git_status: [{}, ['git', 'status', '--porcelain=v1', '-z', '--branch']],
    git_commit: [
      { message: 'm' },
      ['git', '-c', 'user.name=agent', '-c', 'user.email=agent@localhost', 'commit', '--quiet', '--message', 'm'],
    ],
    git_push: [
      { remote: url, branch: 'b' },
      ['a.example:443', 'git', 'push', '--porcelain', '--', url, 'HEAD:refs/heads/b'],
    ],
    search_code: [{ query: 'x', path: 'd' }, ['read d']],
    run_tests: [{}, []],
    format_code: [{ paths: ['a', 'b'] }, ['write a', 'write b']],
    install_package: [
      { name: 'p', version: '1', manager: 'pip' },
      [
        ...['pypi.org:443', 'files.pythonhosted.org:443'],
        ...['python3', '-m', 'pip', 'install', '--target', '.packages', '--', 'p==1'],
      ],
    ],
  },
  clemini: {
    read_file: [{ file_path: 'b' }, ['read b']],
    write_file: [{ file_path: 'b', content: '', backup: true }, ['write b', 'write b.bak']],
    edit: [{ file_path: 'b', old_string: 'x', new_string: 'y' }, ['write b']],
    glob: [{ pattern: '*', directory: 'd' }, ['read d']],
    grep: [{ pattern: 'x', directory: 'd' }, ['read d']],
    bash: [{ command: 'ls d' }, ['ls d']],
    kill_shell: [{ task_id: 'task_1' }, []],
    task: [{ prompt: 'Look.' }, []],
    task_output: [{ task_id: 'task_1' }, []],
    ask_user: [{ question: 'Which?' }, []],
    todo_write: [{ todos: [] }, []],
    web_search: [{ query: 'q' }, [engine]],
    web_fetch: [{ url }, ['a.example:443']],
  },
  sage: {
    Read: [{ file: 'b' }, ['read b']],
    Write: [{ file: 'b', content: '' }, ['write b']],
    Edit: [{ file: 'b', patch: '@@ -1 +1 @@\n-a\n+b\n' }, ['read b', 'write b']],
    Bash: [{ command: 'ls', args: ['d'] }, ['ls', 'd']],
    GraphQuery: [{ query: 'q' }, []],
  },
};

// covers S4-11
test('the gate judges a call of each tool by what its arguments touch', () => {
  for (const { name, tools } of toolsets) {
    const wanted = Object.entries(rows[name] ?? {}).map(([tool, [, touched]]) => [tool, touched]);
    const shown = tools.map(({ name: tool }) => [tool, touching(name, tool, rows[name]?.[tool]?.[0] ?? {})]);
    expect(Object.fromEntries(shown), name).toEqual(Object.fromEntries(wanted));
  }
});

test('a run without a network runs commands that change the workspace alone', () => {
  const commands = [
    ['holdpoint', 'bash', { command: 'ls' }],
    ['ryan', 'execute_bash', { command: 'ls' }],
    ['cli-agent', 'run_in_terminal', { command: 'ls' }],
    ['clemini', 'bash', { command: 'ls' }],
    ['workbench', 'run_tests', {}],
  ] as const;
  for (const [toolset, tool, args] of commands) {
    for (const network of [false, true]) {
      expect(registry.describe({ toolset, tool, args, network })).toMatchObject({
        effect: network ? 'external' : 'workspace',
      });
    }
  }
});

test.each(['cli-agent', 'ryan'])(
  '%s names the minimum of line numbers, and refuses others in its own words',
  (name) => {
    const [tool] = createRegistry(everyToolset)
      .list(name)
      .filter((one) => one.name === 'read_file');
    const minimum = { minimum: 1 };
    expect(tool?.input_schema).toMatchObject({ properties: { start_line: minimum, end_line: minimum } });
  },
);
