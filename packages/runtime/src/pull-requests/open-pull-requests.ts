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
import { statusesOf } from './text/statuses.ts';

interface Deps {
  secrets: Pick<Secrets, 'resolve' | 'redactor'>;
  allowAddresses: readonly string[];
  /** PEM certificates trusted for code hosts, in addition to public authorities. */
  authorities: readonly string[];
  /** See `RemoteHosts`. @default every public host by https */
  gitHosts?: readonly string[] | undefined;
  /** Address of the console, for links. */
  consoleUrl?: string | undefined;
  logger: Pick<Logger, 'info'>;
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
  const api = { url: target.api, token, web, redact: (text: string) => redactor.text(text), signal };
  switch (target.provider) {
    case 'github':
      return await act(openGithub(api, target.repository));
    default:
      return target.provider satisfies never;
  }
}

/** Only the API's own host and port are in reach. @throws PullRequestError for a host that the operator does not open */
function guardOf({ allowAddresses, gitHosts }: Deps, url: string) {
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
