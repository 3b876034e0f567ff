import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createClient } from '@holdpoint/client';
import { installationScopes } from '@holdpoint/contract';
import type { TestProject } from 'vitest/node';
import { type Shared, type System, shareOf, startSystem } from './system.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A socket that answers with the place of the shared system. Undefined: the project has none. */
    system: string | undefined;
  }
}

interface Place {
  url: string;
  key: string;
  directory: string;
  dataDir: string;
}

/** One system for all files of a project that need no settings of their own. It starts when the first of them asks for it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const parent = await mkdtemp(join(tmpdir(), 'hp-shared-'));
  let started: Promise<System> | undefined;
  const server = createServer(async (client) => {
    client.on('error', () => undefined);
    started ??= startSystem().then(async (system) => {
      await system.startWorker();
      return system;
    });
    const answer = await started.then(
      ({ api, key, directory, dataDir }): Place => ({ url: api.url(), key, directory, dataDir }),
      (error: unknown) => ({ problem: String(error) }),
    );
    client.end(JSON.stringify(answer));
  });
  await once(server.listen(join(parent, 'place')), 'listening');
  project.provide('system', join(parent, 'place'));
  return async () => {
    server.close();
    // Judges every recorded call again. A start that failed has failed the tests that asked for it.
    await (await started?.catch(() => undefined))?.[Symbol.asyncDispose]();
    await rm(parent, { recursive: true, force: true });
  };
}

/** The shared system as a new tenant sees it. */
export async function joinSystem(socket: string): Promise<Shared & AsyncDisposable> {
  const place = JSON.parse(await text(connect(socket))) as Place & { problem?: string };
  if (place.problem !== undefined) throw new Error(`the shared system did not start: ${place.problem}`);
  const admin = createClient({ baseUrl: place.url, key: place.key });
  const scopes = (await admin.getMe()).scopes.filter((scope) => !installationScopes.has(scope));
  const { key } = await admin.createKey({ name: 'ann', kind: 'person', tenant: `t-${crypto.randomUUID()}`, scopes });
  await admin.close();
  const client = createClient({ baseUrl: place.url, key });
  return { ...shareOf(place), client, [Symbol.asyncDispose]: () => client.close() };
}
