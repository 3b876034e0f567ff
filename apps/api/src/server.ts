import { randomUUIDv7 } from 'node:crypto';
import swagger from '@fastify/swagger';
import { withLogContext } from '@holdpoint/telemetry';
import apiReference from '@scalar/fastify-api-reference';
import { type FastifyServerOptions, fastify, LogController } from 'fastify';
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import manifest from '../package.json' with { type: 'json' };
import { aboutRequest, lineAbout, pathOf, traceOfRequest } from './about-request.ts';
import { guardAccess, requireDeclaredAccess } from './auth/guard-access.ts';
import { guardHost } from './auth/guard-host.ts';
import { setSecurityHeaders } from './auth/security-headers.ts';
import { cookieName } from './auth/session-cookie.ts';
import { boundConnections } from './bound-connections.ts';
import { serveConsole } from './console/serve-console.ts';
import type { App, ServerDeps } from './deps.ts';
import { answerErrors, rawProblem, sendProblem } from './errors/answer.ts';
import { ApiProblem } from './errors/to-problem.ts';
import { countRequests } from './metrics/count-requests.ts';
import { redactAnswers } from './redact-answers.ts';
import { challengeRoute, decideRoute } from './routes/approvals/decide.ts';
import { decideManyRoute } from './routes/approvals/decide-many.ts';
import { delegateRoute } from './routes/approvals/delegate.ts';
import { patternRoutes } from './routes/approvals/pattern.ts';
import { previewRoute } from './routes/approvals/preview.ts';
import { readApprovalsRoutes } from './routes/approvals/read-approvals.ts';
import { readConflictRoute } from './routes/approvals/read-conflict.ts';
import { readContentRoute } from './routes/approvals/read-content.ts';
import { readContextRoute } from './routes/approvals/read-context.ts';
import { readAuditRoutes } from './routes/audit/read-audit.ts';
import { diffRoute } from './routes/changes/diff.ts';
import { followedPullRequestRoutes } from './routes/changes/followed-pull-request.ts';
import { dryRunRoute, publishRoutes } from './routes/changes/publish.ts';
import { readValidationRoute } from './routes/changes/read-validation.ts';
import { changeEvalsRoutes } from './routes/evals/change-evals.ts';
import { readEvalsRoutes } from './routes/evals/read-evals.ts';
import { readEventsRoutes } from './routes/events/read-events.ts';
import { githubHookRoute } from './routes/hooks/github.ts';
import { keysRoutes } from './routes/keys/keys.ts';
import { readMeRoute } from './routes/keys/read-me.ts';
import { mcpRoute } from './routes/mcp/mcp.ts';
import { changeServersRoutes } from './routes/mcp-servers/change-servers.ts';
import { readServersRoutes } from './routes/mcp-servers/read-servers.ts';
import { readBoundsRoute } from './routes/operations/read-bounds.ts';
import { readMetricsRoute } from './routes/operations/read-metrics.ts';
import { readQueuesRoute } from './routes/operations/read-queues.ts';
import { probeRoutes, readStuckRoute, readWorkersRoute } from './routes/operations/read-workers.ts';
import { setLogLevelRoute } from './routes/operations/set-log-level.ts';
import { passkeysRoutes } from './routes/passkeys/passkeys.ts';
import { policiesRoutes } from './routes/policies/index.ts';
import { presenceRoutes } from './routes/presence/presence.ts';
import { pushSubscriptionsRoutes } from './routes/push/push-subscriptions.ts';
import { quotasRoutes } from './routes/quotas/quotas.ts';
import { rulesRoutes } from './routes/rules/rules.ts';
import { createRunRoute } from './routes/runs/create-run.ts';
import { forkRunRoute } from './routes/runs/fork-run.ts';
import { markRunRoute } from './routes/runs/mark-run.ts';
import { readInstructionsRoute } from './routes/runs/read-instructions.ts';
import { readRunsRoutes, readTurnsRoute } from './routes/runs/read-runs.ts';
import { readTraceRoute } from './routes/runs/read-trace.ts';
import { retryRunRoute } from './routes/runs/retry-run.ts';
import { sendCallsRoutes } from './routes/runs/send-calls.ts';
import { sendMessageRoute } from './routes/runs/send-message.ts';
import { steerRunsRoutes } from './routes/runs/steer-runs.ts';
import { undoRunRoute } from './routes/runs/undo-run.ts';
import { changeSchedulesRoutes } from './routes/schedules/change-schedules.ts';
import { readSchedulesRoutes } from './routes/schedules/read-schedules.ts';
import { secretsRoutes } from './routes/secrets/secrets.ts';
import { logInRoutes } from './routes/session/log-in.ts';
import { sessionsRoutes } from './routes/session/sessions.ts';
import { signInRoutes } from './routes/sign-in/sign-in.ts';
import { readFilesRoutes } from './routes/snapshots/read-files.ts';
import { downloadArchiveRoute, listSnapshotsRoute } from './routes/snapshots/read-snapshots.ts';
import { cancelStepRoute } from './routes/steps/cancel-step.ts';
import { readImageRoute } from './routes/steps/read-image.ts';
import { readStepsRoutes } from './routes/steps/read-steps.ts';
import { tasksRoutes } from './routes/tasks/tasks.ts';
import { readToolsRoutes } from './routes/tools/read-tools.ts';
import { changeWebhooksRoutes } from './routes/webhooks/change-webhooks.ts';
import { readWebhooksRoutes } from './routes/webhooks/read-webhooks.ts';
import { sendWebhooksRoutes } from './routes/webhooks/send-webhooks.ts';
import { checkDepth, checkSecretValues, checkText } from './schema/check-text.ts';
import { openApiTransforms } from './schema/openapi.ts';
import { validatorCompiler } from './schema/validate.ts';
import type { SignIn } from './sign-in/open-sign-in.ts';
import { traceRequests } from './trace-requests.ts';

/** A client connects to send a request. */
const longestSilenceMs = 5000;
const bodyLimit = 32 * 1024 * 1024;
/** The only route with the value of a secret. Its schema checks the text, and no message repeats the text. */
const secretRoute = '/v1/secrets/:name';
/**
 * Without compilers Fastify loads ajv and fast-json-stringify, 110 modules unused by any route. Fastify types the compilers by ajv's own.
 */
const schemaController = {
  compilersFactory: { buildValidator: () => validatorCompiler, buildSerializer: () => serializerCompiler },
} as unknown as FastifyServerOptions['schemaController'];
const newRequestId = (): string => `req_${randomUUIDv7()}`;

/** The API, ready to listen. Its streams end when the caller aborts `closing`. */
export async function buildServer({ signIn, ...deps }: ServerDeps & { signIn?: SignIn | undefined }): Promise<App> {
  const app: App = fastify({
    loggerInstance: deps.logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    requestTimeout: deps.requestMs,
    http: { headersTimeout: deps.requestMs, connectionsCheckingInterval: Math.ceil(deps.requestMs / 5) },
    genReqId: newRequestId,
    requestIdHeader: false,
    exposeHeadRoutes: true,
    routerOptions: { ignoreTrailingSlash: false },
    schemaController,
    frameworkErrors: (error, request, reply) => void sendProblem(error, request, reply),
    clientErrorHandler(error, socket) {
      if (socket.writable) socket.end(rawProblem(error, newRequestId()));
      // A client with a half-open connection must not keep the server's half open.
      setTimeout(() => socket.destroy(), 1000).unref();
    },
  }).withTypeProvider<ZodTypeProvider>();
  boundConnections(app.server, {
    most: deps.mostConnections,
    mostPerAddress: Math.ceil(deps.mostConnections * 0.75),
    firstByteMs: Math.min(longestSilenceMs, deps.requestMs),
  });
  takeJsonOnly(app);
  answerErrors(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    const traceId = traceOfRequest(request);
    if (traceId !== undefined) reply.header('x-trace-id', traceId);
  });
  traceRequests(app, deps.traces);
  setSecurityHeaders(app);
  app.addHook('onRequest', guardHost(deps));
  app.decorateRequest('deps');
  app.addHook('onRequest', guardAccess(deps));
  requireDeclaredAccess(app);
  app.addHook('preValidation', async ({ body, routeOptions, deps }) => {
    checkDepth(body);
    if (routeOptions.url === secretRoute) return;
    checkText(body);
    // Open routes store nothing of their body.
    if (deps !== undefined) checkSecretValues(deps.secrets.redactor(deps.holder.caller.tenant), body);
  });
  app.addHook('preValidation', async ({ query, routeOptions: { url, schema } }) => {
    const [name] = Object.keys(query as object);
    if (name === undefined || schema?.querystring !== undefined || !url?.startsWith('/v1/')) return;
    const errors = [{ pointer: name, detail: 'unknown field' }];
    throw new ApiProblem('invalid_request', `the query is not valid: ${name}: unknown field`, { errors });
  });
  app.addHook('preHandler', (request, _reply, done) => {
    const about = aboutRequest(request);
    if (about.run_id !== undefined) deps.traceIds.learn(deps.redis, about.run_id);
    withLogContext(about, done);
  });
  redactAnswers(app);
  countRequests(app, deps.metrics);
  app.addHook('onResponse', async (request, reply) => {
    const { method } = request;
    // Without the query: a client may have put a secret there.
    const path = pathOf(request);
    request.log.info(
      { method, path, status: reply.statusCode, ms: Math.round(reply.elapsedTime), ...lineAbout(request, reply) },
      'answered',
    );
  });
  await describe(app);
  addRoutes(app, deps, signIn);
  await app.ready();
  return app;
}

/** Many clients send a JSON content type with every request, also without a body. */
function takeJsonOnly(app: App): void {
  app.removeContentTypeParser('text/plain');
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else parse(request, body, done);
  });
}

function addRoutes(app: App, deps: ServerDeps, signIn: SignIn | undefined): void {
  mcpRoute(app);
  readServersRoutes(app);
  changeServersRoutes(app);
  createRunRoute(app);
  retryRunRoute(app);
  sendCallsRoutes(app);
  sendMessageRoute(app);
  tasksRoutes(app);
  readStuckRoute(app);
  readRunsRoutes(app);
  steerRunsRoutes(app);
  forkRunRoute(app);
  markRunRoute(app);
  changeEvalsRoutes(app);
  readEvalsRoutes(app);
  undoRunRoute(app);
  readStepsRoutes(app);
  readImageRoute(app);
  cancelStepRoute(app);
  readEventsRoutes(app);
  readTurnsRoute(app);
  readInstructionsRoute(app);
  readTraceRoute(app);
  readApprovalsRoutes(app);
  readConflictRoute(app);
  readContentRoute(app);
  readContextRoute(app);
  patternRoutes(app);
  previewRoute(app);
  challengeRoute(app);
  decideRoute(app);
  decideManyRoute(app);
  delegateRoute(app);
  rulesRoutes(app);
  diffRoute(app);
  dryRunRoute(app);
  publishRoutes(app);
  followedPullRequestRoutes(app);
  githubHookRoute(app, deps);
  readValidationRoute(app);
  listSnapshotsRoute(app);
  readFilesRoutes(app);
  downloadArchiveRoute(app);
  readToolsRoutes(app);
  secretsRoutes(app);
  readWorkersRoute(app);
  readBoundsRoute(app, signIn);
  readAuditRoutes(app);
  readQueuesRoute(app);
  setLogLevelRoute(app);
  keysRoutes(app);
  policiesRoutes(app);
  readSchedulesRoutes(app);
  changeSchedulesRoutes(app);
  readWebhooksRoutes(app);
  changeWebhooksRoutes(app);
  sendWebhooksRoutes(app);
  quotasRoutes(app);
  readMeRoute(app);
  logInRoutes(app, deps);
  sessionsRoutes(app);
  signInRoutes(app, { ...deps, signIn });
  presenceRoutes(app);
  passkeysRoutes(app);
  pushSubscriptionsRoutes(app);
  readMetricsRoute(app, deps);
  probeRoutes(app, deps);
  serveConsole(app, deps.consoleDir);
}

/** /openapi.json, generated from the validating schemas, and /docs, the page of this document. */
async function describe(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Holdpoint',
        version: manifest.version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        description: 'Durable agent runs: every tool call is a job, every risky step waits for a person.',
      },
      servers: [{ url: '/', description: 'The server of this document' }],
      security: [{ key: [] }, { session: [] }],
      components: {
        securitySchemes: {
          key: { type: 'http', scheme: 'bearer' },
          session: { type: 'apiKey', in: 'cookie', name: cookieName },
        },
      },
    },
    ...openApiTransforms(),
  });
  app.get('/openapi.json', { config: { access: 'open' }, schema: { hide: true } }, () => app.swagger());
  await app.register(apiReference, {
    routePrefix: '/docs',
    configuration: {
      ...{ url: '/openapi.json', telemetry: false, withDefaultFonts: false },
      // Bars and buttons of its vendor lead to services elsewhere.
      ...{ hideClientButton: true, showDeveloperTools: 'never', mcp: { disabled: true } },
    },
  });
}
