/**
 * Records the conversations again: real calls of the real tools on copies of real modules, in the sandbox. The detector of loops is not asked.
 * Needs the library of CPython 3.11 with its tests: `node tests/conversations/record.ts FOLDER`
 */
import { execFileSync } from 'node:child_process';
import { chown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSandbox, type Sandbox, type WorkspaceMount } from '@holdpoint/sandbox';
import { bwrapPath } from '@holdpoint/sandbox/testing';
import { createRegistry, everyToolset, openTextThreads, type ToolContext } from '@holdpoint/tools';
import { loopSessions } from './loop-sessions.ts';
import { layOut, type Repository, repositories } from './repositories.ts';
import type { Call, Turn } from './session.ts';
import { workSessions } from './work-sessions.ts';

const registry = createRegistry(everyToolset);
const threads = openTextThreads();
const stateDir = await mkdtemp(join(tmpdir(), 'holdpoint-recording-'));
const sandbox = await openSandbox({
  policy: 'require',
  allowUnsandboxed: false,
  stateDir,
  bwrapPath,
});
const longest = 400;
let mounts = 0;

type Session = (repository: Repository, turn: Turn) => Promise<void>;

for (const repository of repositories) await record(workSessions, repository, 'work');
for (const repository of repositories.slice(0, 3)) await record(loopSessions, repository, 'loops');
await threads.close();
await sandbox[Symbol.asyncDispose]();
await rm(stateDir, { recursive: true, force: true });

async function record(sessions: Record<string, Session>, repository: Repository, kind: string): Promise<void> {
  for (const [name, session] of Object.entries(sessions)) {
    const mount = await openMount(repository);
    const lines: string[] = [];
    await session(repository, async (...calls) => {
      const made = await Promise.all(calls.map((call) => make(sandbox, mount, call)));
      lines.push(JSON.stringify(made));
      return JSON.stringify(made.at(-1));
    });
    await writeFile(`tests/conversations/${kind}/${name}-${repository.name}.jsonl`, `${lines.join('\n')}\n`);
    await sandbox.killAll(mount.id);
    await rm(mount.path, { recursive: true, force: true });
    process.stdout.write(`${kind} ${name} ${repository.name}: ${lines.length} turns\n`);
  }
}

async function openMount(repository: Repository): Promise<WorkspaceMount> {
  const path = await mkdtemp(join(tmpdir(), 'holdpoint-recorded-'));
  await layOut(repository, path);
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', path, '-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args]);
  git('init', '-q');
  git('config', 'user.name', 'a');
  git('config', 'user.email', 'a@example.org');
  git('add', '-A');
  git('commit', '-qm', 'begin');
  const [uid, gid] = process.getuid?.() === 0 ? [410_000, 410_000] : [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  for (const entry of ['.', ...(await readdir(path, { recursive: true }))]) await chown(join(path, entry), uid, gid);
  return { id: `run_recorded_${process.pid}_${mounts++}`, path, uid, gid };
}

async function make(on: Sandbox, mount: WorkspaceMount, [tool, args]: Call) {
  const { signal } = new AbortController();
  const context = {
    files: on.files(mount),
    run: (command: Parameters<ToolContext['run']>[0]) => on.run({ ...command, workspace: mount, signal }),
    search: (query: Parameters<ToolContext['search']>[0]) => on.search({ ...query, workspace: mount, signal }),
    ...{ ripgrep: on.ripgrep, settings: {}, text: threads.of(mount.id, signal), signal, idempotencyKey: 'step_1' },
    past: { last: async () => undefined, had: async () => false },
    ...{ taskId: 'task_1', depth: 0, maxDepth: 2, now: Date.now, random: Math.random },
  };
  const described = registry.describe({ toolset: 'holdpoint', tool, args });
  if (!described.ok) return { tool, args, status: 'failed', error: described.error };
  const outcome = await registry.execute({
    toolset: 'holdpoint',
    tool,
    args,
    context: context as unknown as ToolContext,
  });
  if (outcome.status === 'deferred') throw new Error(`${tool} waits`);
  const error = outcome.status === 'succeeded' ? undefined : outcome.error;
  return { tool, args: described.args, status: outcome.status, value: shortened(outcome.value), error };
}

/** The files stay small: long texts keep their ends. */
function shortened(value: unknown): unknown {
  const cut = (text: string): string =>
    text.length > longest ? `${text.slice(0, longest / 2)}\n…\n${text.slice(-longest / 2)}` : text;
  return JSON.parse(
    JSON.stringify(value ?? null, (_key, part: unknown) => (typeof part === 'string' ? cut(part) : part)),
  );
}
