import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreateRun } from '@holdpoint/contract/wire';
import { type GithubServer, startGithub } from '@holdpoint/runtime/testing/github';
import { afterAll, beforeAll } from 'vitest';
import { git } from './repositories.ts';
import { finish, plan } from './runs.ts';
import type { System } from './system.ts';
import { useSystem } from './use-system.ts';

export const githubToken = 'token-of-the-test-1234';

/** A system, and a GitHub on the loopback with the repository `owner/project`. */
export interface GithubSystem {
  system: System;
  github: GithubServer;
  /** The repository of `owner/project`. */
  bare: string;
  /** A run of `owner/project` that has changed a file. */
  changed(text: string, more?: Partial<CreateRun>): ReturnType<typeof finish>;
}

export function useGithubSystem({
  env,
  ...options
}: {
  workers?: number;
  env?: () => Record<string, string>;
} = {}): GithubSystem {
  const root = mkdtempSync(join(tmpdir(), 'hp-github-'));
  chmodSync(root, 0o711);
  const certificate = join(root, 'certificate.pem');
  const bare = join(root, 'served/owner/project.git');
  const used = { bare } as GithubSystem;
  beforeAll(async () => {
    const github = await startGithub(join(root, 'served'), { [githubToken]: {} });
    writeFileSync(certificate, github.certificate.cert);
    await makeRepository(root, bare);
    Object.assign(used, { github });
  });
  const system = useSystem({
    ...options,
    env: () => ({
      HOLDPOINT_GIT_HOSTS: `localhost:${used.github.port}`,
      HOLDPOINT_GIT_CA: certificate,
      HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.1/32,::1/128',
      HOLDPOINT_SECRET_GIT_TOKEN: githubToken,
      HOLDPOINT_CONSOLE_URL: 'https://holdpoint.example.org/',
      ...env?.(),
    }),
  });
  afterAll(async () => {
    await used.github[Symbol.asyncDispose]();
    rmSync(root, { recursive: true, force: true });
  });
  return Object.assign(used, {
    system,
    changed: (content: string, more: Partial<CreateRun> = {}) =>
      finish(system.client, {
        ...(more.prompt === undefined && { plan: plan([{ tool: 'write_file', args: { path: 'a.txt', content } }]) }),
        workspace: {
          source: {
            ...{ type: 'git', url: used.github.url('owner/project.git'), ref: 'main' },
            credentials: { secret: 'GIT_TOKEN' },
          },
        },
        ...more,
      }),
  });
}

async function makeRepository(root: string, bare: string): Promise<void> {
  const clone = join(root, 'work');
  mkdirSync(clone);
  writeFileSync(join(clone, 'a.txt'), 'one\n');
  await git(clone, 'init', '-q', '-b', 'main');
  await git(clone, 'add', '-A');
  await git(clone, 'commit', '-q', '-m', 'initial');
  await git(root, 'clone', '-q', '--bare', clone, bare);
  await git(bare, 'config', 'http.receivepack', 'true');
}
