import { chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openSandbox, type Sandbox, type WorkspaceMount } from '@holdpoint/sandbox';
import { bwrapPath } from '@holdpoint/sandbox/testing';
import { afterAll, beforeAll } from 'vitest';
import { type LanguageServers, type LanguageServersOptions, openLanguageServers } from '../open-language-servers.ts';

const require = createRequire(import.meta.url);

/** Folders of packages that the set-up installed, by the name that a project has them under. */
export const packageFolders = {
  typescript6: dirname(require.resolve('typescript-6/package.json')),
  typescript7: dirname(require.resolve('typescript/package.json')),
  native7: dirname(require.resolve(`@typescript/typescript-${process.platform}-${process.arch}/package.json`)),
  pyright: dirname(require.resolve('pyright/package.json')),
};

/** A tree of a run, whose files a test changes by hand. */
export interface ServedRun {
  mount: WorkspaceMount;
  /** Writes files, and removes those that are null. */
  write(files: Record<string, string | null>): void;
  diagnose(path: string, before: string, after: string, on?: LanguageServers): ReturnType<LanguageServers['diagnose']>;
  named(path: string, line: number, symbol: string): Parameters<LanguageServers['definition']>[0];
}

export interface ServerHost {
  directory: string;
  sandbox: Sandbox;
  servers: LanguageServers;
  reopen(more?: Partial<LanguageServersOptions>): LanguageServers;
  /** @param packages folders to copy, by their paths below node_modules */
  run(files: Record<string, string>, packages?: Record<string, string>): ServedRun;
}

/** A real sandbox with language servers for all tests of a file. Empty before the first test. */
export function useServerHost(): ServerHost {
  const host = {} as ServerHost;
  const opened: LanguageServers[] = [];
  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'holdpoint-servers-'));
    const stateDir = join(directory, 'state');
    const sandbox = await openSandbox({ policy: 'require', allowUnsandboxed: false, stateDir, bwrapPath });
    const reopen = (more: Partial<LanguageServersOptions> = {}) => {
      // A test needs a place for each of its runs.
      const servers = openLanguageServers({ sandbox, most: 16, ...more });
      opened.push(servers);
      return servers;
    };
    Object.assign(host, { directory, sandbox, reopen, servers: reopen(), run: runsOf(host) });
    host.directory = directory;
  });
  afterAll(async () => {
    await Promise.all(opened.map((one) => one.close()));
    await host.sandbox[Symbol.asyncDispose]();
    rmSync(host.directory, { recursive: true, force: true });
  });
  return host;
}

function runsOf(host: ServerHost): ServerHost['run'] {
  let made = 0;
  return (files, packages = {}) => {
    const path = join(host.directory, `workspace-${++made}`);
    const owner = process.getuid?.() === 0 ? 210_000 + made : (process.getuid?.() ?? 0);
    const mount = { id: `run_served_${made}`, path, uid: owner, gid: owner };
    mkdirSync(path, { mode: 0o755 });
    chownSync(path, owner, owner);
    for (const [name, from] of Object.entries(packages))
      cpSync(from, join(path, 'node_modules', name), { recursive: true, dereference: true });
    const write = (changed: Record<string, string | null>) => {
      for (const [name, text] of Object.entries(changed)) {
        mkdirSync(dirname(join(path, name)), { recursive: true });
        if (text === null) rmSync(join(path, name));
        else writeFileSync(join(path, name), text);
      }
    };
    write(files);
    const tree = { mount, files: host.sandbox.files(mount) };
    return {
      mount,
      write,
      async diagnose(name, before, after, on = host.servers) {
        write({ [name]: after });
        return on.diagnose({ ...tree, changes: [{ path: name, before, after }], wait_ms: 60_000 });
      },
      named: (name, line, symbol) => ({
        ...tree,
        path: name,
        line,
        symbol,
        wait_ms: 60_000,
        signal: new AbortController().signal,
      }),
    };
  };
}
