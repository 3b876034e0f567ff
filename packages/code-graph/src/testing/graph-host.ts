import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '@holdpoint/contract';
import { openSandbox, type Sandbox } from '@holdpoint/sandbox';
import { bwrapPath } from '@holdpoint/sandbox/testing';
import { openWorkspaces, type Workspaces } from '@holdpoint/workspace';
import { type FileTree, owner, writeTree } from '@holdpoint/workspace/testing';
import { unmountTrees } from '@holdpoint/workspace/trees';
import { afterAll, beforeAll } from 'vitest';
import { type GraphQuery, type Graphs, type GraphsOptions, openGraphs } from '../open-graphs.ts';
import type { Row } from '../query/define-question.ts';

type GraphsSettings = Pick<GraphsOptions, 'program' | 'maxBytes' | 'fileMs'>;

type Asking = Partial<Omit<GraphQuery, 'runId' | 'params' | 'query'>> & { params?: Record<string, Json> };

/** A run with a workspace, whose tree a test changes by hand. */
export interface GraphRun {
  id: string;
  /** The folder of its cache. */
  cache: string;
  /** The snapshot that was taken last. */
  snapshot: string;
  /** Writes files into the tree, removes those that are null, and takes a snapshot. */
  edit(files: Record<string, string | Buffer | null>): Promise<string>;
  /** All results of a query. */
  ask(query: string, params?: Record<string, Json>, more?: Asking): Promise<Row[]>;
  /** The answer of a query. */
  answer(query: string, params?: Record<string, Json>, more?: Asking): Promise<{ results: Row[]; cursor?: string }>;
  /** The same run, asked through other graphs. */
  on(graphs: Graphs): GraphRun;
}

export interface GraphHost {
  directory: string;
  dataDir: string;
  sandbox: Sandbox;
  workspaces: Workspaces;
  graphs: Graphs;
  /** Other graphs on the same data, as another worker has them. */
  reopen(more?: GraphsSettings): Graphs;
  run(files: FileTree, on?: { graphs?: Graphs; id?: string }): Promise<GraphRun>;
  fork(from: GraphRun): Promise<GraphRun>;
}

/** Real workspaces, sandbox and graphs for all tests of a file. Empty before the first test. */
export function useGraphHost(usual: GraphsSettings = {}): GraphHost {
  const host = {} as GraphHost;
  const opened: Graphs[] = [];
  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'holdpoint-graph-'));
    const dataDir = join(directory, 'data');
    mkdirSync(dataDir, { mode: 0o711 });
    const sandbox = await openTestSandbox(join(directory, 'sandbox'));
    const workspaces = openWorkspaces({ dataDir, allocateOwner: () => owner });
    const reopen = (more: GraphsSettings = {}) => {
      const graphs = openGraphs({ sandbox, snapshots: workspaces, ...more });
      opened.push(graphs);
      return graphs;
    };
    const graphs = reopen(usual);
    Object.assign(host, {
      directory,
      dataDir,
      sandbox,
      workspaces,
      graphs,
      reopen,
      ...runsOf({ directory, workspaces, graphs }),
    });
  });
  afterAll(async () => {
    await Promise.all(opened.map((one) => one.close()));
    await host.sandbox[Symbol.asyncDispose]();
    await unmountTrees(host.dataDir);
    rmSync(host.directory, { recursive: true, force: true });
  });
  return host;
}

const openTestSandbox = (stateDir: string): Promise<Sandbox> =>
  openSandbox({
    ...{ policy: 'require', allowUnsandboxed: false, stateDir },
    bwrapPath,
  });

function runsOf({ directory, workspaces, graphs }: Pick<GraphHost, 'directory' | 'workspaces' | 'graphs'>) {
  let made = 0;
  const runOf = (id: string, snapshot: string, on: Graphs): GraphRun => {
    const run: GraphRun = {
      id,
      snapshot,
      cache: workspaces.cache(id).path,
      async edit(files) {
        const { path } = await workspaces.locate({ runId: id, epoch: 1 });
        for (const [name, content] of Object.entries(files)) {
          if (content === null) rmSync(join(path, name), { recursive: true, force: true });
          else writeTree(path, { [name]: content } as FileTree);
        }
        const taken = await workspaces.snapshot({ runId: id, epoch: 1, parent: run.snapshot, message: '' });
        run.snapshot = taken.id;
        return taken.id;
      },
      answer: (query, params, more = {}) =>
        on.query({
          ...{ runId: id, owner, snapshot: run.snapshot, query, params },
          ...{ timeout_ms: 60_000, max_bytes: 1024 * 1024, signal: new AbortController().signal },
          ...more,
        }),
      on: (other) => {
        const same = runOf(id, run.snapshot, other);
        // Its edits are those of this one.
        return Object.defineProperty(same, 'snapshot', {
          get: () => run.snapshot,
          set: (taken: string) => (run.snapshot = taken),
        });
      },
      ask: async (query, params, more) => (await run.answer(query, params, more)).results,
    };
    return run;
  };
  return {
    async run(files: FileTree, { graphs: on = graphs, id = `run_${++made}` }: { graphs?: Graphs; id?: string } = {}) {
      const source = join(directory, `source-${id}`);
      writeTree(source, files);
      const { id: snapshot } = await workspaces.materialise({ runId: id, source: { type: 'directory', path: source } });
      return runOf(id, snapshot, on);
    },
    async fork(from: GraphRun) {
      const id = `run_${++made}`;
      const { id: snapshot } = await workspaces.fork({ runId: id, from: { runId: from.id, snapshot: from.snapshot } });
      return runOf(id, snapshot, graphs);
    },
  };
}
