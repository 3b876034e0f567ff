import type { Json, Modes } from '@holdpoint/contract';
import {
  builtin,
  compilePermissions,
  compilePolicy,
  deniedByModes,
  describeTouches,
  judge,
  permits,
  protectedPath,
  toolsetPolicy,
} from '@holdpoint/policy';
import { createRegistry, createToolsets, everyToolset, httpGraph, openSearch } from '@holdpoint/tools';
import { expect, test } from 'vitest';

const registry = createRegistry(everyToolset);
const open: Modes = { read_only: false, dry_run: false, deterministic: false };
const everything = ['fs:read', 'fs:write', 'exec:*', 'graph:read'];

interface Under {
  permissions?: readonly string[];
  settings?: object;
  modes?: Partial<Modes>;
}

/** What the gate says: by permissions, protected paths and modes, and then by the rules of the toolset. */
function verdict(
  tool: string,
  args: Json,
  { permissions = everything, settings = {}, modes = {} }: Under = {},
): string {
  const described = registry.describe({ toolset: 'sage', tool, args });
  if (!described.ok) throw new Error(described.error.message);
  const { effect, risk } = described;
  const facts = { toolset: 'sage', tool, effect, risk, args, touches: describeTouches(described.touches), labels: {} };
  const permitted = permits(compilePermissions(permissions) ?? [], facts);
  if (!permitted.ok) return permitted.denied;
  const path = protectedPath(registry.grants('sage').protected, facts);
  if (path !== undefined) return `protected ${path}`;
  const byMode = deniedByModes({ ...open, ...modes }, facts);
  if (!byMode.ok) return byMode.denied;
  const toolset = toolsetPolicy('sage', registry.rules('sage', settings, { ...open, ...modes }));
  const run = { ...builtin(), name: 'run', policy: compilePolicy({ rules: [] }) };
  const { action, rule } = judge({ run, operator: [], toolset }, facts);
  return action === 'deny' ? `deny ${rule?.name}` : action;
}
const bash = (command: string, args?: string[], under?: Under) =>
  verdict('Bash', { command, ...(args && { args }) }, under);
const notListed = 'deny bash-allowlist';

// covers S4-41
test.each([
  ['git', ['status']],
  ['echo', ['$(curl x); rm -rf /']],
  ['python3', ['-c', 'print(1)']],
  ['env', []],
  ['env', undefined],
  ['echo a && ls | grep b', undefined],
  ['echo "a;b" > out.txt', undefined],
  ['cat <<< x', undefined],
] as const)('%s %j is on the list', (command, args) => {
  expect(bash(command, args && [...args])).toBe('allow');
});

// covers S4-41
test.each([
  ['curl', ['http://example.com']],
  ['wget', []],
  ['bash', ['-c', 'true']],
  ['./git', ['status']],
  ['/tmp/git', ['status']],
  ['echo ok', []],
  ['env', ['curl', 'x']],
  ['env', ['git', 'status']],
  ['env', ['-0']],
  ['env', ['A=1', 'git', 'status']],
  ['ls; curl x', undefined],
  ['ls && (curl x)', undefined],
  ['echo $(id)', undefined],
  ['echo `id`', undefined],
  ['ls | sh', undefined],
  ['$X status', undefined],
  ['g"i"t$Y status', undefined],
  ['PATH=. git status', undefined],
  ['PATH=.; git status', undefined],
  ['git() { curl x; }; git', undefined],
  ['alias ls=curl; ls', undefined],
  ['exec curl x', undefined],
  ['eval "cu""rl x"', undefined],
  ['command curl x', undefined],
  ['if true; then curl x; fi', undefined],
  ['while true; do id; done', undefined],
  ['ls &\ncurl x', undefined],
  ['echo "unclosed', undefined],
] as const)('%s %j is not', (command, args) => {
  expect(bash(command, args && [...args], { permissions: [...everything, 'net:*'] })).toBe(notListed);
});

// covers S4-41
test('a process in place of a file is a path that is not known', () => {
  expect(bash('cat <(id)')).toBe('fs:read');
});

// covers S4-41
test('a run has its own list', () => {
  const only = (...bash_allowlist: string[]) => ({ settings: { bash_allowlist } });
  expect(bash('sh', ['-c', 'true'], only('sh', 'true'))).toBe('allow');
  // A run that lists a shell trusts what it is given; a line is still judged by its parts.
  expect(bash('sh', ['-c', 'date; exit 3'], only('sh'))).toBe('allow');
  expect(bash("sh -c 'date; exit 3'", undefined, only('sh'))).toBe(notListed);
  // The parser of the gate reads no longer line.
  expect(bash('cat', ['x\n'.repeat(49_000)], only('cat'))).not.toMatch(/deny/);
  expect(bash('./sh', ['-c', 'true'], only('sh'))).toBe(notListed);
  expect(bash('sh -c', ['true'], only('sh'))).toBe(notListed);
  expect(verdict('Bash', { command: 'sh', args: ['-c', 'rm a'] }, only('sh'))).toBe('hold');
  expect(bash('git', ['status'], only('sh'))).toBe(notListed);
  expect(bash('git', ['status'], only())).toBe(notListed);
  expect(bash('./build.sh', ['x'], only('./build.sh'))).toBe('allow');
});

// covers S4-41
test('what the policy holds is held although it is on the list', () => {
  expect(bash('git', ['push'])).toBe('hold');
  expect(bash('rm', ['a'], { settings: { bash_allowlist: ['rm'] } })).toBe('hold');
});

// covers S4-05, S4-62
test('a call needs the permission for what it touches', () => {
  const none = (tool: string, args: Json, ...permissions: string[]) => verdict(tool, args, { permissions });
  expect(none('Read', { file: 'src/../a' })).toBe('fs:read:a');
  expect(none('Write', { file: 'src/../lib/a', content: '' }, 'fs:write:src/**')).toBe('fs:write:lib/a');
  expect(none('Write', { file: '../a', content: '' }, 'fs:write:**')).toBe('fs:write:/a');
  expect(none('Edit', { file: 'a', patch: 'x' }, 'fs:write')).toBe('fs:read:a');
  expect(none('Edit', { file: 'a', patch: 'x' }, 'fs:read')).toBe('fs:write:a');
  expect(none('Edit', { file: 'a', patch: 'x', strategy: 'check' }, 'fs:read')).toBe('allow');
  expect(none('Bash', { command: 'git', args: [] }, 'exec:node')).toBe('exec:git');
  expect(none('Bash', { command: 'echo x > out' }, 'exec:*')).toBe('fs:write:out');
  expect(none('GraphQuery', { query: 'x' })).toBe('graph:read');
  expect(none('GraphQuery', { query: 'x' }, 'graph:read')).toBe('allow');
});

// covers S4-71
test('a run that names no permission only reads', () => {
  expect(registry.grants('sage')).toEqual({
    permissions: ['fs:read', 'graph:read'],
    protected: ['.sage'],
    shells: ['Bash'],
  });
});

// covers S4-43
test.each(['.sage/plan.json', './.sage/f', 'a/../.sage/x/y', '.sage', '/workspace/.sage/f'])(
  '%s is protected, and can be read',
  (file) => {
    expect(verdict('Write', { file, content: '' })).toMatch(/^protected \.sage/);
    expect(verdict('Edit', { file, patch: 'x' })).toMatch(/^protected \.sage/);
    expect(verdict('Read', { file })).toBe('allow');
  },
);

// covers S4-43
test('a command does not write below .sage either', () => {
  expect(bash('echo x > .sage/f')).toMatch(/^protected/);
  expect(bash('rm', ['-r', '.sage'], { settings: { bash_allowlist: ['rm'] } })).toMatch(/^protected/);
});

// covers S4-71
test('a read-only run changes nothing and starts no command', () => {
  const modes = { read_only: true };
  expect(verdict('Write', { file: 'a', content: '' }, { modes })).toBe('read_only');
  expect(verdict('Edit', { file: 'a', patch: 'x' }, { modes })).toBe('read_only');
  expect(verdict('Edit', { file: 'a', patch: 'x', strategy: 'check' }, { modes })).toBe('allow');
  expect(registry.rules('sage', {}, { ...open, ...modes }).rules[0]).toMatchObject({
    name: 'read-only',
    match: { tool: 'Bash' },
    action: 'deny',
  });
});

// covers S4-72
test('a deterministic run starts commands that are marked, and asks no graph outside of the run', () => {
  const modes = { deterministic: true };
  const settings = { bash_allowlist: ['git', 'sort'], deterministic_commands: ['sort', 'date'] };
  expect(bash('git', ['status'], { modes })).toBe('deny deterministic-commands');
  expect(bash('git', ['status'], { modes, settings })).toBe('deny deterministic-commands');
  expect(bash('date', [], { modes, settings })).toBe('deny deterministic-commands');
  expect(bash('sort', ['a'], { modes, settings })).toBe('allow');
  expect(verdict('GraphQuery', { query: 'files' }, { modes })).toBe('allow');
  const graph = httpGraph({ endpoint: 'http://127.0.0.1:1/' });
  const outside = createRegistry(createToolsets({ search: openSearch({ provider: 'duckduckgo' }), graph }));
  const { rules } = outside.rules('sage', {}, { ...open, ...modes });
  expect(rules).toContainEqual(expect.objectContaining({ name: 'deterministic-graph', action: 'deny' }));
  expect(outside.rules('sage', {}, open).rules.map(({ name }) => name)).not.toContain('deterministic-graph');
});

test('the rules are one object as long as settings and modes are the same', () => {
  const rules = (settings: object, modes: Partial<Modes> = {}) =>
    registry.rules('sage', settings, { ...open, ...modes });
  expect(rules({})).toBe(rules({ limits: { timeoutMs: 5 } }));
  expect(rules({})).not.toBe(rules({ bash_allowlist: ['git'] }));
  expect(rules({})).not.toBe(rules({}, { deterministic: true }));
  for (const { reason = '' } of rules({ bash_allowlist: Array.from({ length: 200 }, (_, at) => `program${at}`) })
    .rules) {
    expect(reason.length).toBeLessThanOrEqual(500);
  }
  expect(rules({})).toEqual(registry.rules('sage', undefined));
});
