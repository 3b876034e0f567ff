import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dangerousLines } from './host/dangerous-lines.ts';
import { closedIfRoot, form, mib, processesIn, useScene } from './host/index.ts';

interface Row {
  command?: string;
  argv?: string[];
  question?: string;
  expected: boolean | string;
}

const harmless: readonly (boolean | string)[] = ['NOT_BLOCKED', 'NO_CONFIRMATION'];

/**
 * The project's own lines. When HOLDPOINT_HOSTILE_LISTS names a directory with tables of other projects, also every row that these call
 * dangerous or do not know to be safe.
 */
function commands(): { name: string; argv: [string, ...string[]] }[] {
  const shell = (line: string) => ({
    name: JSON.stringify(line),
    argv: ['/bin/bash', '-c', line] as [string, ...string[]],
  });
  const own = dangerousLines.map(shell);
  const directory = process.env.HOLDPOINT_HOSTILE_LISTS ?? '';
  const rows = ['codex-command-safety.json', 'clemini-bash-safety.json']
    .map((name) => join(directory, name))
    .filter((path) => directory !== '' && existsSync(path))
    .flatMap((path) => (JSON.parse(readFileSync(path, 'utf8')) as { rows: Row[] }).rows);
  const theirs = rows
    .filter(({ question, expected }) => (question === 'known_safe' ? expected === false : expected !== false))
    .filter(({ expected }) => !harmless.includes(expected))
    .map(({ command, argv = [] }) =>
      command === undefined
        ? { name: JSON.stringify(argv), argv: [argv[0] ?? 'true', ...argv.slice(1)] as [string, ...string[]] }
        : shell(command),
    );
  const all = [...own, ...theirs];
  return form === 'full'
    ? all
    : all.filter(({ name }) => /^"(rm -rf --no|chmod -R 777|:\(\)|: > \/etc\/passwd)/.test(name));
}

/** Runs its arguments only where the host's files are invisible. Without a sandbox it does nothing. */
const guarded =
  '[[ -d /workspace && $HOSTNAME == sandbox && ! -e $CANARY && ! -e $PROJECT && ! -w /usr ]] || exit 99; exec "$@"';

describe.each(closedIfRoot)('dangerous commands, with a worker of $name', (user) => {
  const limits = { processes: 64, output_bytes: mib, workspace_bytes: 64 * mib, memory_bytes: 256 * mib };
  const { scene } = useScene(user, { limits: { ...limits, wall_ms: 3000 }, spares: 0 });

  test('the guard runs no command outside a sandbox', () => {
    const { status, stdout } = spawnSync('/bin/bash', ['-c', guarded, 'guard', 'echo', 'ran'], {
      env: { CANARY: scene.canary, PROJECT: scene.directory, PATH: '/usr/bin:/bin' },
    });
    expect([status, String(stdout)]).toEqual([99, '']);
  });

  test.each(commands())('$name', async ({ argv }) => {
    const workspace = scene.makeWorkspace();
    const { end } = await scene.worker.run(workspace, '', {
      argv: ['/bin/bash', '-c', guarded, 'guard', ...argv],
      env: { CANARY: scene.canary, PROJECT: scene.directory },
    });
    expect(['exited', 'timed_out', 'quota']).toContain(end.status);
    expect(end).not.toMatchObject({ exit_code: 99 });
    expect(processesIn(workspace.path)).toEqual([]);
    await scene.expectIntact();
  });
});
