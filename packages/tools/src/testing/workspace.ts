import { chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Json, Preview, ToolOutcome } from '@holdpoint/contract';
import type { Sandbox, WorkspaceMount } from '@holdpoint/sandbox';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { createRegistry } from '../registry/registry.ts';
import { openTextThreads } from '../text-work/open-text-threads.ts';
import type { ToolContext } from '../tool.ts';
import type { Toolset } from '../toolset.ts';
import { holdpoint } from '../toolsets/holdpoint/toolset.ts';
import { noTasks } from './bare-context.ts';
import { openTestSandbox } from './sandbox.ts';

/** A temporary workspace in the real sandbox of this host, with the tools as a worker calls them. */
export interface TestWorkspace {
  /** Absolute host path of the tree. */
  path: string;
  /** What a call of a tool may use. */
  context(more?: Partial<ToolContext>): ToolContext;
  call(tool: string, args: unknown, more?: Partial<ToolContext>): Promise<ToolOutcome>;
  /** What the toolset makes of the outcome. */
  result(tool: string, args: unknown, more?: Partial<ToolContext>): Promise<Json>;
  /** Why a person has to be asked before the call. */
  asks(tool: string, args: unknown, more?: Partial<ToolContext>): Promise<string | null>;
  /** Returns the value; throws when the call does not succeed. */
  value(tool: string, args: unknown): Promise<unknown>;
  preview(tool: string, args: unknown): Promise<Preview | null>;
  put(path: string, content: string | Buffer): Promise<void>;
  get(path: string): Promise<Buffer>;
}

/** One sandbox and one workspace per test file, emptied after each test: a workspace per test took 0.03 s of CPU time to start a tool host. */
export function useWorkspace(toolset: Toolset = holdpoint): () => TestWorkspace {
  let opened: Awaited<ReturnType<typeof openTestSandbox>> | undefined;
  let mount: WorkspaceMount | undefined;
  let workspace: TestWorkspace | undefined;

  beforeAll(async () => {
    opened = await openTestSandbox();
    mount = await makeMount();
    workspace = openWorkspace(toolset, opened.sandbox, mount);
  });
  afterEach(() => mount && empty(mount.path));
  afterAll(async () => {
    if (mount) await rm(mount.path, { recursive: true, force: true });
    await opened?.close();
  });

  return () => {
    if (!workspace) throw new Error('only inside a test');
    return workspace;
  };
}

const threads = openTextThreads();

function openWorkspace(toolset: Toolset, sandbox: Sandbox, mount: WorkspaceMount): TestWorkspace {
  const registry = createRegistry([toolset]);
  const context = ({ signal = new AbortController().signal, ...more }: Partial<ToolContext> = {}): ToolContext => ({
    files: sandbox.files(mount),
    run: (command) => sandbox.run({ ...command, workspace: mount, signal }),
    search: (query) => sandbox.search({ ...query, workspace: mount, signal }),
    ripgrep: sandbox.ripgrep,
    past: { last: async () => undefined, had: async () => false, search: async () => ({ hits: [] }) },
    settings: {},
    text: threads.of(mount.id, signal),
    signal,
    idempotencyKey: 'step_1',
    ...{ tasks: noTasks, taskId: 'task_1', depth: 0, maxDepth: 2, now: Date.now, random: Math.random },
    ...more,
  });
  const call = (tool: string, args: unknown, more?: Partial<ToolContext>) =>
    registry.execute({ toolset: toolset.name, tool, args, context: context(more) });
  return {
    path: mount.path,
    context,
    call,
    async result(tool, args, more) {
      const outcome = await call(tool, args, more);
      if (outcome.status === 'deferred') throw new Error(`${tool} waits for a task`);
      const { status, value } = outcome;
      const error = status === 'succeeded' ? undefined : outcome.error;
      const settled = { tool, args: args as Json, status, value: value as Json, error, times, settings: {}, modes };
      return toolset.present?.(settled) ?? null;
    },
    asks: (tool, args, more) => registry.asks({ toolset: toolset.name, tool, args, context: context(more) }),
    async value(tool, args) {
      const outcome = await call(tool, args);
      if (outcome.status === 'succeeded') return outcome.value;
      const why = outcome.status === 'deferred' ? '' : `${outcome.error.code} ${outcome.error.message}`;
      throw new Error(`${tool} ${outcome.status}: ${why}`);
    },
    preview: (tool, args) => registry.preview({ toolset: toolset.name, tool, args, context: context() }),
    async put(path, content) {
      await giveDirectory(mount, dirname(path));
      await writeFile(join(mount.path, path), content);
      await chown(join(mount.path, path), mount.uid, mount.gid);
    },
    get: (path) => readFile(join(mount.path, path)),
  };
}

async function empty(path: string): Promise<void> {
  const names = await readdir(path);
  await Promise.all(names.map((name) => rm(join(path, name), { recursive: true, force: true })));
}

const times = {
  created_at: '2026-01-01T00:00:00.000Z',
  started_at: '2026-01-01T00:00:00.010Z',
  settled_at: '2026-01-01T00:00:00.017Z',
  queued_ms: 10,
  duration_ms: 7,
};
const modes = { read_only: false, dry_run: false, deterministic: false };

async function makeMount(): Promise<WorkspaceMount> {
  const path = await mkdtemp(join(tmpdir(), 'holdpoint-tools-'));
  const root = process.getuid?.() === 0;
  // On a root host the workspace belongs to a uid of its own, from a range that no account uses.
  const uid = root ? firstUid + (process.pid % uids) : (process.getuid?.() ?? 0);
  const gid = root ? uid : (process.getgid?.() ?? 0);
  await chown(path, uid, gid);
  return { id: `run_tools_${process.pid}`, path, uid, gid };
}

const firstUid = 410_000;
const uids = 50_000;

async function giveDirectory(mount: WorkspaceMount, path: string): Promise<void> {
  if (path === '.') return;
  await giveDirectory(mount, dirname(path));
  await mkdir(join(mount.path, path), { recursive: true });
  await chown(join(mount.path, path), mount.uid, mount.gid);
}
