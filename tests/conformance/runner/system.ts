import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CapabilityReport } from '@holdpoint/contract';
import { type System, startSystem } from '../../harness/system.ts';
import type { Case } from './case.ts';
import { openLock } from './lock.ts';
import type { Group } from './operator.ts';
import { openGraphStub } from './stubs/graph.ts';
import { openModelStub } from './stubs/model.ts';
import { openSearchStub } from './stubs/search.ts';

/** A whole system for the cases of a group, with the servers named by its operator. */
export interface Bench extends AsyncDisposable {
  system: System;
  /** A directory for the sources of cases. */
  directory: string;
  toolsets: readonly string[];
  /** The servers are shared, so a case with a server has the server alone. */
  stubs: {
    search: Awaited<ReturnType<typeof openSearchStub>>;
    model: Awaited<ReturnType<typeof openModelStub>>;
    graph: Awaited<ReturnType<typeof openGraphStub>>;
    alone: ReturnType<typeof openLock>;
  };
  /** Whether files, network, processes and system calls are enforced. */
  isolated: boolean;
  /** Whether tools run as root. */
  root(): Promise<boolean>;
}

/** @param options.keep leaves the data and the logs, and prints where they are */
export async function openBench(
  { loopback, hostEnv, secrets }: Omit<Group<Case>, 'cases'>,
  { keep }: { keep: boolean },
): Promise<Bench> {
  const directory = await mkdtemp(join(tmpdir(), 'hp-conformance-'));
  const secretsDir = await writeSecrets(join(directory, 'secrets'), secrets);
  const [search, model, graph] = await Promise.all([openSearchStub(), openModelStub(), openGraphStub()]);
  const env = {
    ...hostEnv,

    HOLDPOINT_WORKER_STEPS: '16',
    HOLDPOINT_SECRETS_DIR: secretsDir,
    HOLDPOINT_KEY_RATE: '100000',
    HOLDPOINT_KEY_BURST: '100000',
    HOLDPOINT_SEARCH_ENDPOINT: search.url,
    HOLDPOINT_GRAPH_ENDPOINT: graph.url,
    HOLDPOINT_MODEL: 'openai-compatible/scripted',
    OPENAI_COMPATIBLE_BASE_URL: model.url,
    ...(loopback && { HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.0/8' }),
  };
  const system = await startSystem(env, {});
  await system.startWorker();
  const [worker] = await system.client.listWorkers();
  const { body: toolsets } = { body: (await system.client.listToolsets()).map(({ name }) => name) };
  return {
    system,
    directory,
    toolsets,
    stubs: { search, model, graph, alone: openLock() },
    isolated: isIsolated(worker?.capabilities as Partial<CapabilityReport> | undefined),
    root: once(() => runsAsRoot(system)),
    async [Symbol.asyncDispose]() {
      // The replay of other tests knows neither the toolsets nor the search engine of this system.
      await system.end();
      if (keep) process.stderr.write(`kept: ${system.directory} and ${directory}\n`);
      else await rm(system.directory, { recursive: true, force: true });
      for (const stub of [search, model, graph]) await stub[Symbol.asyncDispose]();
      if (!keep) await rm(directory, { recursive: true, force: true });
    },
  };
}

const isIsolated = (report: Partial<CapabilityReport> = {}): boolean =>
  (['fs', 'net', 'pids', 'seccomp'] as const).every((bound) => report[bound] === 'enforced');

/** A file of the mode 0600 per secret, as HOLDPOINT_SECRETS_DIR wants them. */
async function writeSecrets(folder: string, secrets: Record<string, string>): Promise<string> {
  await mkdir(folder, { mode: 0o700 });
  for (const [name, value] of Object.entries(secrets)) {
    await writeFile(join(folder, name), value);
    await chmod(join(folder, name), 0o600);
  }
  return folder;
}

/** Asks a command, because the worker's user is another user. */
async function runsAsRoot({ client }: System): Promise<boolean> {
  const title = `user of the tools ${randomUUID()}`;
  const plan = { groups: [{ steps: [{ tool: 'bash', args: { command: 'id -u' } }] }] };
  const { run } = await client.createRun({ title, plan });
  await client.waitForRun(run.id, { signal: AbortSignal.timeout(60_000) });
  const [step] = (await client.listSteps(run.id)).data;
  const { result } = await client.getStep(step?.id ?? '');
  return JSON.stringify(result).includes('"stdout":"0\\n"');
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
