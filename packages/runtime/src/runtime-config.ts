import type { Ceilings, Retention } from '@holdpoint/engine';
import type { SpaceLimits } from '@holdpoint/engine/space';
import type { ModelSettings } from '@holdpoint/models';
import type { MetricsSettings, TraceSettings } from '@holdpoint/telemetry';
import type { Roots, WorkspacesOptions } from '@holdpoint/workspace';
import type { KindDocument } from './agents/parse-kind.ts';
import type { ProviderRates } from './model-gate/provider-rates.ts';

/** Paths of files of the operator about remote repositories. */
export interface RemoteFiles {
  /** Certificates in PEM. */
  authorities?: string | undefined;
  knownHosts?: string | undefined;
}

/** What a worker process is started with. Times in milliseconds. */
export interface RuntimeConfig {
  /** Version of the program, for the heartbeat. */
  version: string;
  projectDir: string;
  dataDir: string;
  host: string;
  /** Steps that run at once in this process. */
  steps: number;
  /** Runs in progress for each process: as many work on their files, and as many ask a model. */
  runs: number;
  turns: number;
  /** Background commands that run at once in this process. */
  tasks: number;
  /** Time after which a job whose worker is silent counts as lost, and how often that is looked for. */
  lockMs: number;
  stalledMs: number;
  sweepMs: number;
  /** How long a worker that shuts down waits for running steps before it hands them back. */
  drainMs: number;
  /** All files of a source together may have at most this many bytes. */
  sourceBytes: number;
  /** Which trees stand on shared layers where overlay mounts work. @default that of `openWorkspaces` */
  layers?: WorkspacesOptions['layers'];
  /** What `prepare` made may take this many bytes in all, kept for later runs; 0: nothing is kept. */
  preparedBytes: number;
  /** Globs of the files that decide what `prepare` makes. @default all files of a source */
  preparedInputs?: readonly string[] | undefined;
  /** What runs of the same source share may take this many bytes in all; 0: they share nothing. */
  poolBytes: number;
  /** How often workspaces that are past `retention` are discarded, and what nothing needs is removed. */
  maintenanceMs: number;
  /** Without bounds no workspace is discarded by itself. */
  retention: Retention;
  sandboxPolicy: 'require' | 'best-effort';
  allowUnsandboxed: boolean;
  /** Directories outside /usr that are mounted read-only into every sandbox; `<dir>/bin` is added to PATH. */
  toolchains: string[];
  /** CIDR ranges beside the public addresses that a run's allowlist may lead to. */
  allowAddresses: readonly string[];
  /** Where web_search asks; undefined: DuckDuckGo's HTML page. */
  searchEndpoint: string | undefined;
  /** Where GraphQuery asks; undefined: the graph of each run. */
  graphEndpoint: string | undefined;
  /** On a root host each run gets a uid of its own, counted from here. */
  uidBase: number;
  /** Identifies the boot of the machine. @default the kernel's own id */
  bootId: string | undefined;
  path: string;
  models: ModelSettings;
  /** Requests to models that all workers together may send, by provider. */
  rates: ProviderRates;
  /** The operator's instructions for every model. */
  instructions?: string | undefined;
  /** The operator's kinds of sub-agents. */
  agentKinds: readonly KindDocument[];
  /** What must stay free on the disk of the data directory. */
  space: SpaceLimits;
  /** What no run may pass. */
  ceilings: Ceilings;
  /** Where sources may lie and where a publish may write. */
  roots: Roots;
  /** Files of the operator about remote repositories. */
  remotes: RemoteFiles;
  /** The file of the operator's policy, which binds every run; undefined: the policy is in the store. */
  policyFile: string | undefined;
  /** Modules with tools of the operator: absolute paths, and packages below `projectDir`. */
  toolModules: readonly string[];
  metrics: MetricsSettings;
  /** Undefined: no traces are exported. */
  traces?: TraceSettings | undefined;
}

export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly code = 'invalid_configuration';
  readonly next = 'Correct the environment of this process and start it again.';
}
