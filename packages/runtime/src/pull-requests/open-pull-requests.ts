import { readApiAddress } from '@holdpoint/contract';
import { createGuard, EgressError, openGuardedFetch } from '@holdpoint/egress';
import type { PullRequestCall, PullRequestPort } from '@holdpoint/engine/worker';
import type { Secrets } from '@holdpoint/secrets';
import { assertRemote, WorkspaceError } from '@holdpoint/workspace';
import type { Logger } from 'pino';
import { PullRequestError } from './errors.ts';
import { openGithub } from './github/github.ts';
import type { CodeHost } from './port.ts';
import { bodyText } from './text/body.ts';
import { checkText } from './text/remark.ts';
import { statusesOf } from './text/statuses.ts';

interface HostDeps {
  allowAddresses: readonly string[];
  /** PEM certificates trusted for code hosts, in addition to public authorities. */
  authorities: readonly string[];
  /** See `RemoteHosts`. @default every public host by https */
  gitHosts?: readonly string[] | undefined;
  logger: Pick<Logger, 'info'>;
}

/** Only the API's own host and port are in reach. @throws PullRequestError for a host that the operator does not open */
function guardOf({ allowAddresses, gitHosts }: HostDeps, url: string) {
  const api = readApiAddress(url);
  if (typeof api === 'string') throw new PullRequestError('EPULLREQUESTADDRESS', `${url}: ${api}.`);
  const { host, port } = api;
  try {
    assertRemote({ transport: 'https', host, port, user: undefined, url }, gitHosts && { hosts: gitHosts });
    return createGuard({ rules: [`${host.includes(':') ? `[${host}]` : host}:${port}`], allowAddresses });
  } catch (error) {
    if (!(error instanceof EgressError || error instanceof WorkspaceError)) throw error;
    throw new PullRequestError('EPULLREQUESTADDRESS', error.message, { cause: error });
  }
}

/** A longer log is not read. */
const logBytes = 32 * 1024 ** 2;

interface LogPlace {
  runId: string;
  /** Address of the API that led there. */
  api: string;
  place: URL;
  signal: AbortSignal;
}

/**
 * Fetches a log from the place that an API leads to, which is often a storage of another host. That host gets no token, has to be public, and
 * has to be open where the operator narrows the hosts.
 */
async function fetchLog(deps: HostDeps, { runId, api, place, signal }: LogPlace): Promise<string | undefined> {
  try {
    const isApi = new URL(api).host === place.host;
    const guard = guardOf({ ...deps, allowAddresses: isApi ? deps.allowAddresses : [] }, `${place.origin}/`);
    await using web = openGuardedFetch({
      guard,
      authorities: deps.authorities,
      onConnection: (connection) => deps.logger.info({ run_id: runId, connection }, 'a connection for a log ended'),
    });
    const limits = { redirects: 0, body_bytes: logBytes, wire_bytes: logBytes };
    const { status, body, truncated } = await web.fetch({ url: place.href, limits, signal });
    return status === 200 && !truncated ? body.toString('utf8') : undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EgressError || error instanceof PullRequestError) return undefined;
    throw error;
  }
}

interface Deps extends HostDeps {
  secrets: Pick<Secrets, 'resolve' | 'redactor'>;
  /** Address of the console, for links. */
  consoleUrl?: string | undefined;
}

/** The token goes from the secrets into the requests of this process: no sandbox, log or event has it. */
export function openPullRequests(deps: Deps): PullRequestPort {
  return {
    check: (call) => withHost(deps, call, (host) => host.check(shared(call))),
    open: (call) =>
      withHost(deps, call, (host) => {
        const { runId, commit, report, target } = call;
        const redact = deps.secrets.redactor(call.scope.tenant);
        const told = redact.json({ runId, commit, report, console: deps.consoleUrl });
        const title = redact.text(target.title);
        const { draft = false } = target;
        return host.open({ ...shared(call), title, draft, body: bodyText(told), statuses: statusesOf(told.report) });
      }),
    async news({ call, number }) {
      const news = await withHost(deps, call, (host) => host.news({ ...shared(call), number }));
      return deps.secrets.redactor(call.scope.tenant).json(news);
    },
    mayWrite: ({ call }, user) => withHost(deps, call, (host) => host.mayWrite(user)),
    async describeCheck({ call }, check) {
      const log = await withHost(deps, call, (host) => host.logEnd(check));
      return checkText(deps.secrets.redactor(call.scope.tenant).json({ ...check, log }));
    },
    answer: ({ call, number }, answer) =>
      withHost(deps, call, (host) => host.answer({ ...shared(call), number }, answer)),
  };
}

const shared = ({ runId, branch, commit, target: { base } }: PullRequestCall) => ({
  runId,
  branch: branch.replace(/^refs\/heads\//, ''),
  commit,
  base,
});

async function withHost<Result>(
  deps: Deps,
  { runId, target, scope: { tenant }, signal }: PullRequestCall,
  act: (host: CodeHost) => Promise<Result>,
): Promise<Result> {
  const redactor = deps.secrets.redactor(tenant);
  await using web = openGuardedFetch({
    guard: guardOf(deps, target.api),
    authorities: deps.authorities,
    onConnection: (connection) => deps.logger.info({ run_id: runId, connection }, 'a connection to a code host ended'),
  });
  const token = deps.secrets.resolve(target.secret, { tenant }).trim();
  const api = {
    ...{ url: target.api, token, web, redact: (text: string) => redactor.text(text), signal },
    fetchLog: (place: URL) => fetchLog(deps, { runId, api: target.api, place, signal }),
  };
  switch (target.provider) {
    case 'github':
      return await act(openGithub(api, target.repository));
    default:
      return target.provider satisfies never;
  }
}
