/** DBOS: workflows in a single process, their steps in PostgreSQL. Parked: a workflow in wait for a message. */
import { setTimeout as delay } from 'node:timers/promises';
import { loadPackage } from './install.ts';
import { type Peer, servePeer } from './peer.ts';
import { startPostgres } from './postgres.ts';

interface Handle {
  workflowID: string;
  getResult(): Promise<unknown>;
}
type Workflow<Input extends unknown[]> = (...input: Input) => Promise<unknown>;
interface Dbos {
  setConfig(config: object): void;
  launch(): Promise<void>;
  registerWorkflow<Input extends unknown[]>(work: Workflow<Input>, options: { name: string }): Workflow<Input>;
  startWorkflow<Input extends unknown[]>(
    workflow: Workflow<Input>,
    options?: { workflowID: string },
  ): (...input: Input) => Promise<Handle>;
  runStep(work: () => Promise<void>, options: { name: string }): Promise<void>;
  recv(topic: string, timeoutSeconds: number): Promise<unknown>;
  send(workflowId: string, message: unknown, topic: string): Promise<void>;
  shutdown(): Promise<void>;
}

async function open(): Promise<Peer> {
  const { DBOS: dbos } = loadPackage<{ DBOS: Dbos }>('@dbos-inc/dbos-sdk');
  const postgres = await startPostgres();
  // As many connections as runs at once.
  const systemDatabaseUrl = postgres.url('dbos');
  dbos.setConfig({
    name: 'bench',
    systemDatabaseUrl,
    systemDatabasePoolSize: 40,
    logLevel: 'error',
  });
  const begun = new Map<string, () => void>();
  const steps = dbos.registerWorkflow(
    async (count: number) => {
      const ends: number[] = [];
      for (let number = 0; number < count; number++) {
        await dbos.runStep(async () => {}, { name: 'nothing' });
        ends.push(performance.now());
      }
      return ends;
    },
    { name: 'steps' },
  );
  let waiting = 0;
  const parked = dbos.registerWorkflow(
    async (key: string) => {
      waiting++;
      await dbos.recv('go', 86_400);
      waiting--;
      await dbos.runStep(async () => begun.get(key)?.(), { name: 'nothing' });
    },
    { name: 'parked' },
  );
  await dbos.launch();
  let serial = 0;
  return {
    async run({ runs, steps: count }) {
      const handles = await Promise.all(Array.from({ length: runs }, () => dbos.startWorkflow(steps)(count)));
      return (await Promise.all(handles.map((handle) => handle.getResult()))) as number[][];
    },
    async park(count) {
      const keys = Array.from({ length: count }, () => `parked-${serial++}`);
      const before = waiting;
      for (const key of keys) await dbos.startWorkflow(parked, { workflowID: key })(key);
      while (waiting < before + count) await delay(20);
      // Each has then asked for its message, and listens.
      await delay(500);
      return keys;
    },
    async release(key) {
      const { promise, resolve } = Promise.withResolvers<number>();
      begun.set(key, () => resolve(performance.now()));
      const from = performance.now();
      await dbos.send(key, 'go', 'go');
      return (await promise) - from;
    },
    processes: async () => ({ server: postgres.pids() }),
    stop: () => postgres.stop(),
  };
}

await servePeer(open);
