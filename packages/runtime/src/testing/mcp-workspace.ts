import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type McpServer, serverSchema, serverTools } from '@holdpoint/mcp';
import { type AskedTools, askTools, type Way } from '@holdpoint/mcp/ask-tools';
import { openSandbox, type Sandbox, type WorkspaceMount } from '@holdpoint/sandbox';
import { bwrapPath } from '@holdpoint/sandbox/testing';
import type { Tool, ToolContext } from '@holdpoint/tools';
import { afterAll, beforeAll } from 'vitest';
import type { KeptPrograms } from '../adapters/kept-programs.ts';
import { runConversation } from '../adapters/run-conversation.ts';

/** A server of a test, which runs in a real sandbox. */
export interface McpWorkspace {
  path: string;
  mount: WorkspaceMount;
  sandbox: Sandbox;
  /** Asks the server for its tools, as a person does before they accept them. */
  ask(more?: object): Promise<AskedTools>;
  /** The parts of a call's context that a server needs. */
  context(): Pick<ToolContext, 'converse' | 'signal'>;
  /** Calls a tool of the server, whose tools a person accepted as they are now, or as given. */
  call(
    tool: string,
    args?: object,
    more?: { accepted?: AskedTools; server?: object; signal?: AbortSignal; kept?: KeptPrograms },
  ): ReturnType<Tool['execute']>;
}

/**
 * A real sandbox for the tests of a file.
 * @returns a function that makes a workspace whose `server.mjs` has the text
 */
export function useMcpWorkspaces(): (script: string) => McpWorkspace {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-mcp-'));
  let sandbox: Sandbox | undefined;
  let made = 0;
  beforeAll(async () => {
    const stateDir = join(directory, 'state');
    sandbox = await openSandbox({ policy: 'require', allowUnsandboxed: false, stateDir, bwrapPath });
  });
  afterAll(async () => {
    await sandbox?.[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });
  return (script) => {
    if (sandbox === undefined) throw new Error('only inside a test');
    const path = join(directory, `tree-${++made}`);
    mkdirSync(path, { mode: 0o755 });
    const owner = process.getuid?.() === 0 ? 220_000 + made : (process.getuid?.() ?? 0);
    writeFileSync(join(path, 'server.mjs'), script, { mode: 0o644 });
    chownSync(path, owner, owner);
    return openWorkspace(sandbox, { id: `run_mcp_${made}`, path, uid: owner, gid: owner });
  };
}

function openWorkspace(sandbox: Sandbox, mount: WorkspaceMount): McpWorkspace {
  const serverOf = (more: object): McpServer =>
    serverSchema.parse({ command: 'node', args: ['server.mjs'], timeout_s: 20, ...more });
  const converseUnder =
    (signal: AbortSignal): NonNullable<Way['converse']> =>
    ({ read_only = false, ...command }, talk) =>
      runConversation(
        sandbox,
        { ...command, workspace: { ...mount, readOnly: read_only }, signal, stop: signal },
        talk,
      );
  const ask: McpWorkspace['ask'] = (more = {}) => {
    const signal = new AbortController().signal;
    return askTools('own', serverOf(more), { converse: converseUnder(signal), signal });
  };
  return {
    ...{ path: mount.path, mount, sandbox, ask },
    context() {
      const { signal } = new AbortController();
      return { converse: converseUnder(signal), signal };
    },
    async call(tool, args = {}, { accepted, server = {}, signal = new AbortController().signal, kept } = {}) {
      const pinned = { ...(accepted ?? (await ask(server))), at: new Date().toISOString() };
      const [addition] = serverTools({ own: { ...serverOf(server), accepted: pinned } });
      const found = addition?.definitions[0]?.tools.find(({ name }) => name === `mcp__own__${tool}`);
      if (found === undefined) throw new Error(`no tool ${tool}`);
      const converseKept: ToolContext['converseKept'] =
        kept && ((request, talk) => kept.converse({ mount, limits: {}, signal }, request, talk));
      return found.execute({ converse: converseUnder(signal), converseKept, signal } as ToolContext, args);
    },
  };
}
