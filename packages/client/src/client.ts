import { type Fetch, openTransport } from './request.ts';
import { approvalRequests } from './resources/approvals.ts';
import { auditRequests } from './resources/audit.ts';
import { callRequests } from './resources/calls.ts';
import { evalRequests } from './resources/evals.ts';
import { eventRequests } from './resources/events.ts';
import { fileRequests } from './resources/files.ts';
import { keyRequests } from './resources/keys.ts';
import { mcpServerRequests } from './resources/mcp-servers.ts';
import { passkeyRequests } from './resources/passkeys.ts';
import { policyRequests } from './resources/policies.ts';
import { publicationRequests } from './resources/publications.ts';
import { pushRequests } from './resources/push.ts';
import { quotaRequests } from './resources/quotas.ts';
import { ruleRequests } from './resources/rules.ts';
import { runRequests } from './resources/runs.ts';
import { scheduleRequests } from './resources/schedules.ts';
import { secretRequests } from './resources/secrets.ts';
import { sessionRequests } from './resources/sessions.ts';
import { stepRequests } from './resources/steps.ts';
import { systemRequests } from './resources/system.ts';
import { taskRequests } from './resources/tasks.ts';
import { toolRequests } from './resources/tools.ts';
import { webhookRequests } from './resources/webhooks.ts';

export interface ClientOptions {
  /** For example `http://127.0.0.1:4747`. */
  baseUrl: string;
  key: string;
  /** @default undici's */
  fetch?: Fetch;
}

/** The API as functions. Each function throws `ApiError` for a refusal of the server and `ConnectionError` without an answer. */
export type Client = ReturnType<typeof createClient>;

/**
 * @example
 * const client = createClient({ baseUrl: 'http://127.0.0.1:4747', key });
 * const { run } = await client.createRun({ prompt: 'Fix the failing test', workspace: { source: { type: 'directory', path } } });
 * for await (const event of client.events(run.id)) process.stdout.write(`${event.type}\n`);
 */
export function createClient(options: ClientOptions) {
  const transport = openTransport(options);
  return {
    ...runRequests(transport),
    ...callRequests(transport),
    ...taskRequests(transport),
    ...stepRequests(transport),
    ...eventRequests(transport),
    ...approvalRequests(transport),
    ...ruleRequests(transport),
    ...fileRequests(transport),
    ...publicationRequests(transport),
    ...toolRequests(transport),
    ...keyRequests(transport),
    ...secretRequests(transport),
    ...mcpServerRequests(transport),
    ...pushRequests(transport),
    ...passkeyRequests(transport),
    ...sessionRequests(transport),
    ...policyRequests(transport),
    ...scheduleRequests(transport),
    ...evalRequests(transport),
    ...webhookRequests(transport),
    ...quotaRequests(transport),
    ...auditRequests(transport),
    ...systemRequests(transport),
    /** Waits for open requests and closes the connections. Idle ones keep no process alive. */
    close: (): Promise<void> => transport.close(),
  };
}
