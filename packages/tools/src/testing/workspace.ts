import { chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Json, modesSchema, type Preview, type SettledCall, type ToolOutcome } from '@holdpoint/contract';
import type { Sandbox, WorkspaceMount } from '@holdpoint/sandbox';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { Network } from '../network.ts';
import { presentPlainly } from '../present-plainly.ts';
import { createRegistry } from '../registry.ts';
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
  call(tool: string, args: unknown, signal?: AbortSignal): Promise<ToolOutcome>;
  /** Returns the value; throws when the call does not succeed. */
  value(tool: string, args: unknown): Promise<unknown>;
  /** The result by the contract of the toolset. */
  result(tool: string, args: unknown, more?: CallOptions): Promise<unknown>;
  preview(tool: string, args: unknown): Promise<Preview | null>;
  put(path: string, content: string | Buffer): Promise<void>;
  get(path: string): Promise<Buffer>;
}

export interface CallOptions {
  /** @default those of the toolset */
  settings?: object;
  network?: Network;
  past?: ToolContext['past'];
  signal?: AbortSignal;
}

/** One sandbox per test file, one fresh workspace per test. */
export function useWorkspace(toolset: Toolset = holdpoint): () => TestWorkspace {
  let opened: Awaited<ReturnType<typeof openTestSandbox>> | undefined;
  let mount: WorkspaceMount | undefined;
  let workspace: TestWorkspace | undefined;
  let count = 0;

  beforeAll(async () => {
    opened = await openTestSandbox();
  });
  beforeEach(async () => {
    if (!opened) throw new Error('the sandbox did not open');
    mount = await makeMount(count++);
    workspace = openWorkspace(opened.sandbox, mount, toolset);
  });
  afterEach(async () => {
    if (!mount) return;
    await opened?.sandbox.killAll(mount.id);
    await rm(mount.path, { recursive: true, force: true });
  });
  afterAll(async () => {
    await opened?.close();
  });

  return () => {
    if (!workspace) throw new Error('only inside a test');
    return workspace;
  };
}

const threads = openTextThreads();

function openWorkspace(sandbox: Sandbox, mount: WorkspaceMount, set: Toolset): TestWorkspace {
  const { name: toolset } = set;
  const registry = createRegistry([set]);
  const defaults = (given: object = {}): Json => (set.settings?.parse(given) ?? given) as Json;
  const context = ({
    signal = new AbortController().signal,
    settings,
    network,
    past = noPast,
  }: CallOptions = {}): ToolContext => ({
    files: sandbox.files(mount),
    run: (command) => sandbox.run({ ...command, workspace: mount, signal }),
    ripgrep: sandbox.ripgrep,
    past,
    settings: defaults(settings),
    ...(network && { network }),
    text: threads.of(mount.id, signal),
    signal,
    idempotencyKey: 'step_1',
    ...{ tasks: noTasks, taskId: 'task_1', depth: 0, maxDepth: 2, now: Date.now, random: Math.random },
  });
  const execute = (tool: string, args: unknown, more?: CallOptions) =>
    registry.execute({ toolset, tool, args, context: context(more) });
  const call = (tool: string, args: unknown, signal?: AbortSignal) =>
    execute(tool, args, signal === undefined ? {} : { signal });
  return {
    path: mount.path,
    call,
    async value(tool, args) {
      const outcome = await call(tool, args);
      if (outcome.status === 'succeeded') return outcome.value;
      const why = outcome.status === 'deferred' ? '' : `${outcome.error.code} ${outcome.error.message}`;
      throw new Error(`${tool} ${outcome.status}: ${why}`);
    },
    async result(tool, args, more) {
      const outcome = await execute(tool, args, more);
      if (outcome.status === 'deferred') throw new Error(`${tool} waits`);
      const { status, value } = outcome;
      const error = outcome.status === 'succeeded' ? undefined : outcome.error;
      const settled = { status, value: asJson(value), error, settings: defaults(more?.settings), ...ofTest };
      return (set.present ?? presentPlainly)({ tool, args: args as Json, ...settled });
    },
    preview: (tool, args) => registry.preview({ toolset, tool, args, context: context() }),
    async put(path, content) {
      await giveDirectory(mount, dirname(path));
      await writeFile(join(mount.path, path), content);
      await chown(join(mount.path, path), mount.uid, mount.gid);
    },
    get: (path) => readFile(join(mount.path, path)),
  };
}

const noPast: ToolContext['past'] = { last: async () => undefined, had: async () => false };

const asJson = (value: unknown): Json | undefined =>
  value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as Json);

const ofTest: Pick<SettledCall, 'times' | 'modes'> = {
  times: {
    created_at: '2026-01-01T00:00:00.000Z',
    started_at: '2026-01-01T00:00:00.010Z',
    settled_at: '2026-01-01T00:00:00.035Z',
    queued_ms: 10,
    duration_ms: 25,
  },
  modes: modesSchema.parse({}),
};

async function makeMount(number: number): Promise<WorkspaceMount> {
  const path = await mkdtemp(join(tmpdir(), 'holdpoint-tools-'));
  const root = process.getuid?.() === 0;
  // On a root host each workspace belongs to its own uid, from a range that no account uses.
  const uid = root ? firstUid + ((process.pid * 16 + number) % uids) : (process.getuid?.() ?? 0);
  const gid = root ? uid : (process.getgid?.() ?? 0);
  await chown(path, uid, gid);
  return { id: `run_tools_${process.pid}_${number}`, path, uid, gid };
}

const firstUid = 410_000;
const uids = 50_000;

async function giveDirectory(mount: WorkspaceMount, path: string): Promise<void> {
  if (path === '.') return;
  await giveDirectory(mount, dirname(path));
  await mkdir(join(mount.path, path), { recursive: true });
  await chown(join(mount.path, path), mount.uid, mount.gid);
}
