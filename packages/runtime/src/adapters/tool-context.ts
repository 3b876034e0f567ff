import type { Graphs } from '@holdpoint/code-graph';
import { imageBounds } from '@holdpoint/contract';
import type { Documents, PageBrowser } from '@holdpoint/documents';
import type { LanguageServers } from '@holdpoint/language-servers';
import { readablePaths } from '@holdpoint/policy';
import type { Sandbox, WorkspaceMount } from '@holdpoint/sandbox';
import type { Secrets } from '@holdpoint/secrets';
import type { TextThreads, ToolContext } from '@holdpoint/tools';
import type { Workspaces } from '@holdpoint/workspace';
import type { ProjectToolchains } from '../toolchains/project-toolchains.ts';
import { type CallBounds, callCommands } from './call-commands.ts';
import { placeholderOf, secretsOfCommands } from './command-use.ts';
import { fixSurroundings } from './determinism.ts';
import type { KeptPrograms } from './kept-programs.ts';
import { runDocuments } from './run-documents.ts';
import { runGraph } from './run-graph.ts';
import { runLanguage } from './run-language.ts';

/** Milliseconds for the server of a page to listen, and for the page to load. A server that builds first needs more than a page. */
const [listen_ms, load_ms, answer_ms] = [60_000, 15_000, 15_000];
const bounds = { listen_ms, load_ms, answer_ms, most_side: imageBounds.side, most_bytes: imageBounds.bytes };

/** Pictures of pages for the tools of a run. */
const runScreenshots =
  (
    browser: PageBrowser,
    { mount, signal }: { mount: WorkspaceMount; signal: AbortSignal },
  ): ToolContext['screenshot'] =>
  (query) =>
    browser.shoot({ ...query, ...bounds, mount, signal });

export interface ContextDeps {
  sandbox: Sandbox;
  workspaces: Workspaces;
  texts: TextThreads;
  graphs: Graphs;
  languageServers: LanguageServers;
  documents: Documents;
  /** @default no browser */
  browser?: PageBrowser | undefined;
  keptPrograms: KeptPrograms;
  toolchains: ProjectToolchains;
  secrets: Secrets;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** The first check of a run starts its parser: 0.5 s. A result does not wait longer for its syntax errors. */
const syntaxMs = 5000;

/** All that a tool may use for a call, on the tree of its run. */
export async function contextOf(deps: ContextDeps, call: CallBounds): Promise<ToolContext> {
  const { sandbox, texts, graphs, languageServers, documents, browser, secrets, now } = deps;
  const workspace = await mountOf(deps, call);
  const { reads, way, network = way?.network, scope, signal, rest } = call;
  const fixed = call.seed === undefined ? undefined : fixSurroundings(call.seed, now);
  const { deferred } = rest;
  const isReadable = readablePaths(rest.permissions);
  // With `reads`, the tool's own file access is read-only as well.
  const files = sandbox.files(reads === undefined ? workspace : { ...workspace, readOnly: true });
  // A server reads the whole tree, and what is ready when is not the same in each attempt.
  const hasServers = isReadable === undefined && fixed === undefined;
  return {
    ...rest,
    deferred: deferred && fixed ? { ...deferred, until: fixed.toFixed(deferred.until) } : deferred,
    now: fixed?.now ?? now,
    random: fixed?.random ?? Math.random,
    files,
    ripgrep: sandbox.ripgrep,
    isReadable,
    language: hasServers ? runLanguage(languageServers, { mount: workspace, files, signal }) : undefined,
    checkSyntax: ({ path, before, after }) =>
      graphs.checkSyntax({ runId: call.runId, owner: workspace, path, before, after, timeout_ms: syntaxMs }),
    screenshot: hasServers && browser ? runScreenshots(browser, { mount: workspace, signal }) : undefined,
    pages: runDocuments(documents, { run: workspace, redactor: () => secrets.redactor(scope.tenant) }),
    text: texts.of(call.runId, signal),
    graph: graphOf(deps, call, workspace),
    signal,
    secrets: secretsOfCommands(scope),
    placeholder: scope.secrets.length === 0 ? undefined : placeholderOf(secrets, scope),
    idempotencyKey: call.idempotencyKey,
    runId: call.runId,
    tenant: scope.tenant,
    network,
    ...callCommands(deps, call, { workspace, fixed }),
  };
}

/** `asks` and previews have no snapshot, so they query no graph. */
const graphOf = (
  { graphs }: ContextDeps,
  { runId, scope: { tenant }, rest: { snapshot, permissions, onGraphProgress: onProgress }, signal }: CallBounds,
  owner: WorkspaceMount,
) =>
  snapshot === undefined
    ? undefined
    : runGraph(graphs, { runId, tenant, owner, snapshot, permissions, signal, onProgress });

/** The run's tree, whose commands find the project's runtimes first. */
export async function mountOf(
  { workspaces, toolchains }: Pick<ContextDeps, 'workspaces' | 'toolchains'>,
  { readOnly, ...place }: { runId: string; epoch: number; readOnly?: boolean },
): Promise<WorkspaceMount> {
  const { mount, base } = await located(workspaces, place);
  const { first } = await toolchains.of({ ...mount, base });
  return { ...mount, first, readOnly };
}

export async function located(
  workspaces: Workspaces,
  { runId, epoch }: { runId: string; epoch: number },
): Promise<{ mount: WorkspaceMount; base: string }> {
  const { path, owner, repository, sourceFolders, outputs, base } = await workspaces.locate({ runId, epoch });
  return { mount: { id: runId, path, uid: owner.uid, gid: owner.gid, repository, sourceFolders, outputs }, base };
}
