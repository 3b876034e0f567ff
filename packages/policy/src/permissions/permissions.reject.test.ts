import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commandFacts } from '../judge/command-facts.ts';
import { facts } from '../testing/arbitrary.ts';
import { bash, call } from '../testing/facts.ts';
import { type Grants, narrow, type Permission, parsePermissions } from './grants.ts';
import { deniedByModes, permits, protectedPath } from './permits.ts';

const parse = (...texts: string[]): Permission[] => {
  const parsed = parsePermissions(texts);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.permissions;
};
const open = { read_only: false, dry_run: false, deterministic: false };

test.each([
  ['fs:raed', 'Nearest: `fs:read`'],
  ['fs:write:', '`fs:write:GLOB`'],
  ['exec', '`exec:PROGRAM`'],
  ['net', '`net:HOST`'],
  ['net:https://a.example', '`net:HOST`'],
  ['graph:read:x', '`graph:read`'],
  ['fs:read:[', 'without its'],
])('refuses %s', (text, words) => {
  expect(parsePermissions(['fs:read', text])).toEqual({
    ok: false,
    problems: [{ pointer: '/1', detail: expect.stringContaining(words) }],
  });
});

test('a denial names the permission', () => {
  const has = parse('fs:read', 'fs:write:src/**', 'exec:git', 'net:*.example.com');
  const denied = (made: Parameters<typeof permits>[1]) => {
    const result = permits(has, made);
    return result.ok ? undefined : result.denied;
  };
  const path = (path: string, access: 'read' | 'write' | 'delete', recursive = false) =>
    call({ paths: [{ path, access, recursive }] });
  expect(denied(path('a', 'read'))).toBe(undefined);
  expect(denied(path('src/a', 'write'))).toBe(undefined);
  expect(denied(path('src/../a', 'write'))).toBe('fs:write:a');
  expect(denied(path('.', 'delete', true))).toBe('fs:write:./**');
  expect(denied(path('/etc/passwd', 'read'))).toBe('fs:read:/etc/passwd');
  expect(denied(bash(commandFacts('git status')))).toBe(undefined);
  expect(denied(bash(commandFacts('git status && npm test')))).toBe('exec:npm');
  expect(denied(bash(commandFacts('./git status')))).toBe('exec:./git');
  expect(denied(bash(commandFacts('$X')))).toBe('exec:*');
  expect(denied(bash('unparsed'))).toBe('exec:*');
  expect(denied(bash(commandFacts('git log > out')))).toBe('fs:write:out');
  expect(denied(call({ hosts: ['a.example.com:443'] }))).toBe(undefined);
  expect(denied(call({ hosts: ['example.org:443'] }))).toBe('net:example.org:443');
  expect(denied(call({ graph: 'read' }))).toBe('graph:read');
  expect(permits(parse('graph:read'), call({ graph: 'read' }))).toEqual({ ok: true });
  expect(permits([], path('a', 'read'))).toMatchObject({ how: expect.stringContaining('fs:read:a') });
});

test('modes and protected paths', () => {
  const write = call({ paths: [{ path: 'a/b', access: 'write' }] });
  expect(deniedByModes({ ...open, read_only: true }, write)).toMatchObject({ denied: 'read_only' });
  expect(deniedByModes({ ...open, read_only: true }, call({ effect: 'read' }))).toEqual({ ok: true });
  expect(deniedByModes({ ...open, deterministic: true }, call({ hosts: ['a.example'] }))).toMatchObject({ ok: false });
  expect(protectedPath(['a/**'], write)).toBe('a/b');
  expect(protectedPath(['b/**'], write)).toBe(undefined);
  expect(protectedPath(['a/**'], call({ paths: [{ path: '.', access: 'delete', recursive: true }] }))).toBe('.');
  expect(protectedPath(['.git/**'], bash(commandFacts('echo x > .git/hooks/pre-commit')))).toBe(
    '.git/hooks/pre-commit',
  );
});

const texts = fc.uniqueArray(
  fc.constantFrom(
    ...[
      'fs:read',
      'fs:read:src/**',
      'fs:read:src/a',
      'fs:read:/etc/**',
      'fs:read:..',
      'fs:write',
      'fs:write:dist/*',
      'fs:write:**',
    ],
    ...[
      'exec:*',
      'exec:git',
      'exec:{git,npm}',
      'exec:g*',
      'net:*',
      'net:a.example',
      'net:*.example:8080',
      'graph:read',
    ],
  ),
  { maxLength: 6 },
);
const grants = fc.record({
  permissions: fc.option(
    texts.map((all) => parse(...all)),
    { nil: undefined },
  ),
  protected: fc.subarray(['src/**', '.env']),
  modes: fc.record({ read_only: fc.boolean(), dry_run: fc.boolean(), deterministic: fc.boolean() }),
});

test('a child never has more than its parent', () => {
  const isPermitted = (
    { permissions, modes, protected: paths }: Grants,
    made: Parameters<typeof permits>[1],
  ): boolean =>
    (permissions === undefined || permits(permissions, made).ok) &&
    deniedByModes(modes, made).ok &&
    protectedPath(paths, made) === undefined;
  fc.assert(
    fc.property(grants, grants, facts, (parent, asked, made) => {
      const child = narrow(parent, asked);
      if (isPermitted(child, made)) expect(isPermitted(parent, made)).toBe(true);
      expect(narrow(parent, {})).toEqual({ ...parent, permissions: narrow(parent, {}).permissions });
    }),
    { numRuns: 2000 },
  );
});
