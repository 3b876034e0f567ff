import { randomUUIDv7 } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Callers, Holder } from '@holdpoint/callers';
import type { AuditEntry, Scope } from '@holdpoint/contract';
import type { Bounds } from '@holdpoint/contract/wire';
import type * as engine from '@holdpoint/engine';
import type { Audit } from '@holdpoint/engine/audit';
import type { SpaceWatch } from '@holdpoint/engine/space';
import type { ServerStore } from '@holdpoint/mcp';
import type { ModelSettings } from '@holdpoint/models';
import type { Secrets } from '@holdpoint/secrets';
import type { Metrics, Traces } from '@holdpoint/telemetry';
import type { Registry } from '@holdpoint/tools';
import type { Workspaces } from '@holdpoint/workspace';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { LiveStreams } from './live/live-streams.ts';
import type { Presence } from './live/presence.ts';
import type { RunNotifications } from './live/run-notifications.ts';
import type { Pulls } from './pull-requests/open-pulls.ts';
import type { PushService } from './push/open-push.ts';
import type { Webhooks } from './webhooks/open-webhooks.ts';

/** The parts given to the server. */
export interface ServerDeps extends Omit<engine.EngineDeps, 'logger'> {
  openEngine: engine.OpenEngine;
  callers: Callers;
  audit: Audit;
  logger: FastifyBaseLogger;
  catalog: Registry;
  /** The operator's file of outside MCP servers. */
  mcpServers: ServerStore;
  /** The output of background commands. */
  outputs: Pick<engine.OutputStore, 'read'>;
  workspaces: Pick<
    Workspaces,
    | 'check'
    | 'diff'
    | 'diffStat'
    | 'patch'
    | 'files'
    | 'unknown'
    | 'repositories'
    | 'read'
    | 'archive'
    | 'checkBranch'
    | 'previewPublish'
    | 'conflict'
  >;
  /** The operator's settings for every run; each worker reports its own. */
  bounds(): Bounds;
  /** The operator's policy in force in this process. */
  operator: engine.OperatorPolicyReader;
  models: ModelSettings;
  /** CIDR ranges permitted in a run's allowlist in addition to the public addresses. */
  allowAddresses: readonly string[];
  /** Whether the disk of the data directory has space for more runs. */
  space: Pick<SpaceWatch, 'low'>;
  secrets: Secrets;
  metrics: Metrics;
  /** The traces of runs, for log lines. */
  traceIds: engine.TraceIds;
  /** Undefined: no traces are exported. */
  traces?: Traces | undefined;
  /** Who may read them; `off`: there are none to read. */
  metricsAccess: 'off' | 'key' | 'open';
  push: PushService;
  schedules: Schedules;
  evals: Evals;
  webhooks: Webhooks;
  pulls: Pulls;
  /** The name of the secret that signs webhooks of GitHub. Undefined: none are taken. */
  githubWebhook?: string | undefined;
  notifications: RunNotifications;
  live: LiveStreams;
  presence: Presence;
  /** The built web console. It may be absent. */
  consoleDir: string;
  /** The server's bound address. On loopback, requests must name a loopback host. */
  host: string;
  /** Names accepted from clients for the server, in addition to addresses and the names of this machine. Lower case. */
  hostNames: readonly string[];
  /** The name that passkeys are made for on its pages and on those of names below. @default the name of each page */
  passkeyDomain?: string | undefined;
  /** Aborted when the server closes: ends streams and waiting requests. */
  closing: AbortSignal;
  /** Milliseconds between two heartbeats on a quiet stream. */
  heartbeatMs: number;
  /** Milliseconds a request waits for a worker to publish, discard or restore. */
  publicationWaitMs: number;
  /**
   * Open connections, streams included. Above the bound the oldest connection without a request is closed; each address has at most three
   * quarters of the places.
   */
  mostConnections: number;
  /** Milliseconds a client may take to send a request. */
  requestMs: number;
}

export interface Schedules {
  store: engine.ScheduleStore;
  /** @param at milliseconds since the epoch. @default now */
  wake(job: engine.ScheduleJob, at?: number): Promise<void>;
}

export interface Evals {
  store: engine.EvalStore;
  /** @param at milliseconds since the epoch. @default now */
  wake(job: engine.EvalJob, at?: number): Promise<void>;
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** The surroundings of a route: for the caller of a request. The engine shows the caller's tenant alone. */
export interface ApiDeps extends ServerDeps {
  engine: engine.Engine;
  holder: Holder;
}

/** The access required by a route: a key with a scope, any key in force, or none; `console`: none for files and addresses of the console. */
export type Access = Scope | 'any key' | 'open' | 'console';

export type HeaderName = 'idempotency-key' | 'last-event-id' | 'traceparent' | 'tracestate';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Declared by every route for the guard and the OpenAPI document. */
    access?: Access;
    /** Answers a key accepted here within the last hour even while Redis does not answer. For routes without data of callers. */
    withoutRedis?: boolean;
    /** Answers with a secret that it has made, once. The rest of the answer has no text of a run. */
    showsNewSecret?: true;
    /** Headers read by the route. */
    headers?: readonly HeaderName[];
  }
  interface FastifyRequest {
    /** Set by the guard, on every route with required access. */
    deps: ApiDeps;
  }
}

/** Adds a change outside of runs to the audit log, with the responsible caller. */
export const recordChange = (
  { audit, holder: { caller }, now }: Pick<ApiDeps, 'audit' | 'now'> & { holder: Pick<Holder, 'caller'> },
  change: Pick<AuditEntry, 'subject' | 'action' | 'detail'>,
): Promise<void> =>
  audit.record({
    ...{ id: `change_${randomUUIDv7()}`, time: new Date(now()).toISOString(), tenant: caller.tenant },
    ...{ by: { name: caller.name, kind: caller.kind } },
    ...change,
  });
