import * as contract from '@holdpoint/contract';
import type { DryRun } from '@holdpoint/contract/wire';
import { createGuard, EgressError } from '@holdpoint/egress';
import type { RunState } from '@holdpoint/engine';
import { assertRemote, isNamed, WorkspaceError } from '@holdpoint/workspace';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';

type Deps = Pick<ApiDeps, 'engine' | 'secrets' | 'allowAddresses' | 'bounds' | 'holder'>;

/**
 * Fills in what a request leaves open, so the log and the digest of a plan name the repository, the address and the secret. Contacts nothing.
 * @throws ApiProblem `invalid_request`, `unknown_secret`, with the field
 */
export async function resolvePullRequest(
  deps: Deps,
  run: RunState,
  { pull_request: asked, branch }: Pick<DryRun, 'pull_request' | 'branch'>,
): Promise<contract.PullRequestTarget | undefined> {
  if (asked === undefined) return undefined;
  const { source } = await deps.engine.runs.spec(run);
  if (!contract.isRemote(source))
    throw invalid('', 'only a run whose source is a remote git repository (url) has pull requests');
  const remote = contract.parseRemote(source.url);
  const repository = contract.repositoryOf(source.url);
  if (typeof remote === 'string' || repository === undefined) {
    throw invalid('', `the source ${source.url} is no owner/name at a code host`);
  }
  const base = asked.base ?? contract.branchOf(source.ref);
  const title = asked.title ?? run.header.title.slice(0, longestTitle);
  const { draft, rounds } = asked;
  if (base !== undefined && base === branch) throw invalid('/base', 'a branch cannot be merged into itself');
  return {
    provider: providerOf(asked, remote),
    api: apiOf(deps, asked, remote),
    repository,
    secret: secretOf(deps, asked, { source, remote }),
    ...(base !== undefined && { base }),
    title: title.replace(/[\p{Cc}\p{Bidi_Control}]+/gu, ' ').trim() || 'Change set of a run',
    ...(draft && { draft }),
    ...(rounds !== undefined && { rounds }),
  };
}

const longestTitle = 250;

const place = '/pull_request';

const invalid = (pointer: string, detail: string): ApiProblem =>
  new ApiProblem('invalid_request', detail, { errors: [{ pointer: `${place}${pointer}`, detail }] });

function providerOf(
  { provider }: contract.PullRequestOptions,
  { host }: contract.Remote,
): contract.PullRequestTarget['provider'] {
  const found = provider ?? contract.knownProvider(host);
  if (found !== undefined) return found;
  throw invalid(
    '/provider',
    `${host} is no known code host: say which kind it is, such as github for GitHub Enterprise Server`,
  );
}

/**
 * A token leaves for the host of the source, for its API, or for a host that the operator names: no caller sends the token of a colleague
 * elsewhere.
 */
function apiOf(
  { bounds, allowAddresses }: Deps,
  { api: asked }: contract.PullRequestOptions,
  remote: contract.Remote,
): string {
  const api = contract.readApiAddress(asked ?? contract.usualApi(remote));
  if (typeof api === 'string') throw invalid('/api', api);
  const { host, port, url } = api;
  const hosts = bounds().git_hosts ?? ['*'];
  const at: contract.Remote = { transport: 'https', host, port, user: undefined, url };
  if (host !== remote.host && host !== `api.${remote.host}` && !isNamed(at, { hosts })) {
    throw invalid(
      '/api',
      `${host} is another host than the source: the operator has to name it in HOLDPOINT_GIT_HOSTS`,
    );
  }
  try {
    assertRemote(at, { hosts });
    createGuard({ rules: [`${host.includes(':') ? `[${host}]` : host}:${port}`], allowAddresses });
  } catch (error) {
    if (!(error instanceof WorkspaceError || error instanceof EgressError)) throw error;
    throw invalid('/api', `${error.message} ${error.next}`);
  }
  return url;
}

function secretOf(
  { secrets, holder }: Deps,
  { secret }: contract.PullRequestOptions,
  { source, remote }: { source: contract.RemoteSource; remote: contract.Remote },
): string {
  const name = secret ?? (remote.transport === 'https' ? source.credentials?.secret : undefined);
  if (name === undefined) throw invalid('/secret', 'name the secret with a token for the API: the source has none');
  const names = secrets.list(holder.caller.tenant).map((known) => known.name);
  if (names.includes(name)) return name;
  const there = names.length === 0 ? 'there is none' : `the nearest: ${contract.nearestNames(name, names).join(', ')}`;
  const detail = `there is no secret ${name}; ${there}`;
  throw new ApiProblem('unknown_secret', detail, { errors: [{ pointer: `${place}/secret`, detail }] });
}

const resolveMs = 10_000;

/** A name that leads to a private address is refused before anything is recorded. A name that cannot be resolved now may be later. */
export async function assertPublic(
  { allowAddresses }: Deps,
  target: contract.PullRequestTarget | undefined,
): Promise<void> {
  const api = target && contract.readApiAddress(target.api);
  if (api === undefined || typeof api === 'string') return;
  const { host, port } = api;
  const guard = createGuard({ rules: [`${host.includes(':') ? `[${host}]` : host}:${port}`], allowAddresses });
  await guard.check({ host, port }, AbortSignal.timeout(resolveMs)).catch((error: unknown) => {
    if (error instanceof EgressError && error.code === 'EADDRESSREFUSED') {
      throw invalid('/api', `${error.message} ${error.next}`);
    }
  });
}
