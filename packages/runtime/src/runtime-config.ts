import type { Ceilings, Retention } from '@holdpoint/engine';
import type { SpaceLimits } from '@holdpoint/engine/space';
import type { ModelSettings } from '@holdpoint/models';
import type { MetricsSettings, TraceSettings } from '@holdpoint/telemetry';
import type { SearchSettings } from '@holdpoint/tools';
import type { Roots, WorkspacesOptions } from '@holdpoint/workspace';
import type { KindDocument } from './agents/parse-kind.ts';
import type { ProviderRates } from './model-gate/model-gate.ts';
import type { ResultBytes } from './result-bytes.ts';

/** Paths of files of the operator about remote repositories. */
export interface RemoteFiles {
  /** Certificates in PEM. */
  authorities?: string | undefined;
  knownHosts?: string | undefined;
}

/** Settings of a worker process. Times in milliseconds. */
export interface RuntimeConfig {
  /** Version of the program, for the heartbeat. */
  version: string;
  projectDir: string;
  dataDir: string;
  host: string;
  /** Steps that run at once in this process. */
  steps: number;
  /** Runs in progress for each process: at most `runs` work on their files, and at most `turns` ask a model. */
  runs: number;
  turns: number;
  /** Background commands that run at once in this process. */
  tasks: number;
  /** A job counts as lost when its worker is silent for `lockMs`. Workers look for lost jobs every `stalledMs`. */
  lockMs: number;
  stalledMs: number;
  sweepMs: number;
  /** How long a worker waits for running steps at shutdown before handing them back. */
  drainMs: number;
  /** All files of a source together may have at most this many bytes. */
  sourceBytes: number;
  /** Most language servers of this worker at once; 0: none. @default 4 */
  languageServers?: number;
  /** The Chromium for screenshots: a path, or `none`. @default one on PATH, or the one of the set-up */
  chromium?: string | undefined;
  /** Most outside agents of this worker that wait between two turns, and for how many milliseconds each. @default 8, two minutes */
  outsideAgents?: { most: number; idleMs: number };
  /** Most programs of MCP servers that stay between two calls of a run, and for how many milliseconds each. @default 8, two minutes */
  mcpPrograms?: { most: number; idleMs: number };
  /** The trees to build on shared layers where overlay mounts work. @default the default of `openWorkspaces` */
  layers?: WorkspacesOptions['layers'];
  /** Most bytes of all outputs of `prepare` kept for later runs; 0: no output is kept. */
  preparedBytes: number;
  /** Globs of the files that decide the output of `prepare`. @default all files of a source */
  preparedInputs?: readonly string[] | undefined;
  /** Most bytes of all files shared by runs of the same source; 0: runs share no files. */
  poolBytes: number;
  /** How often workers discard workspaces past `retention`, and remove unneeded data. */
  maintenanceMs: number;
  /** Without bounds no workspace is discarded automatically. */
  retention: Retention;
  sandboxPolicy: 'require' | 'best-effort';
  allowUnsandboxed: boolean;
  /** Directories outside /usr, mounted read-only into every sandbox; `<dir>/bin` is added to PATH. */
  toolchains: string[];
  /** CIDR ranges. Hosts of a run's allowlist may have public addresses and addresses in these ranges. */
  allowAddresses: readonly string[];
  /** The search engine of web_search. Its key is the operator's: no run, model or log has it. */
  search: SearchSettings;
  /** Address of the graph for GraphQuery; undefined: the graph of each run. */
  graphEndpoint: string | undefined;
  /** On a root host each run gets a uid of its own, counted from this number. */
  uidBase: number;
  /** Identifies the boot of the machine. @default the kernel's own id */
  bootId: string | undefined;
  path: string;
  models: ModelSettings;
  /** Limits on the requests of all workers together to models, by provider. */
  rates: ProviderRates;
  /** Most bytes of a result in a request to a model. */
  resultBytes: ResultBytes;
  /** The operator's instructions for every model. */
  instructions?: string | undefined;
  /** The operator's kinds of sub-agents. */
  agentKinds: readonly KindDocument[];
  /** Space that must stay free on the disk of the data directory. */
  space: SpaceLimits;
  /** Upper bounds on the limits of every run. */
  ceilings: Ceilings;
  /** Directories for sources and for publishes, and hosts of remote repositories. */
  roots: Roots;
  /** Files of the operator about remote repositories. */
  remotes: RemoteFiles;
  /** Address of the console, for links in pull requests. */
  consoleUrl?: string | undefined;
  /** The file of the operator's policy. The policy binds every run. Undefined: the policy is in the store. */
  policyFile: string | undefined;
  /** Modules with tools of the operator: absolute paths, and packages below `projectDir`. */
  toolModules: readonly string[];
  /** The file of outside MCP servers. No such file: none. */
  mcpServers: string;
  metrics: MetricsSettings;
  /** Undefined: no traces are exported. */
  traces?: TraceSettings | undefined;
}

export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly code = 'invalid_configuration';
  readonly next = 'Correct the environment of this process and start it again.';
}
