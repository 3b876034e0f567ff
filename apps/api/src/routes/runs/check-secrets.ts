import { nearestNames, toPointer } from '@holdpoint/contract';
import type { CreateRunBody, PointerError } from '@holdpoint/contract/wire';
import { createGuard } from '@holdpoint/egress';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';

/**
 * Every secret named by a run must exist, and the host of a header must be in reach of the run.
 * @throws ApiProblem `unknown_secret`, `invalid_secret_use`
 */
export function checkSecrets(
  { secrets, allowAddresses, catalog, holder }: Pick<ApiDeps, 'secrets' | 'allowAddresses' | 'catalog' | 'holder'>,
  { secrets: uses, network, toolset, workspace }: Pick<CreateRunBody, 'secrets' | 'network' | 'toolset' | 'workspace'>,
): void {
  const { source } = workspace;
  const ofSource = source.type === 'git' ? source.credentials : undefined;
  const named = [
    ...uses.map(({ name }, index) => ({ name, at: ['secrets', index, 'name'] })),
    ...(ofSource === undefined
      ? []
      : [{ name: ofSource.secret, at: ['workspace', 'source', 'credentials', 'secret'] }]),
  ];
  if (named.length === 0) return;
  const names = secrets.list(holder.caller.tenant).map(({ name }) => name);
  const unknown = named.flatMap(({ name, at }): PointerError[] => {
    if (names.includes(name)) return [];
    const nearest = nearestNames(name, names).join(', ');
    const there = names.length === 0 ? 'there is none' : `the nearest: ${nearest}`;
    return [{ pointer: toPointer(at), detail: `there is no secret ${name}; ${there}` }];
  });
  refuse('unknown_secret', unknown);
  const guard = createGuard({ rules: network.allow, allowAddresses });
  const unusable = uses.flatMap(({ as }, index): PointerError[] => {
    if ('placeholder' in as && !catalog.fillsPlaceholders(toolset)) {
      const detail = `the toolset ${toolset} does not replace placeholders; use a variable or a header`;
      return [{ pointer: toPointer(['secrets', index, 'as', 'placeholder']), detail }];
    }
    if (!('header' in as)) return [];
    const [, host = '', port = '443'] = /^([^:]+)(?::(\d+))?$/.exec(as.header.host) ?? [];
    if (guard.lists({ host, port: Number(port) })) return [];
    const detail = `${host}:${port} is not on this run's network allowlist`;
    return [{ pointer: toPointer(['secrets', index, 'as', 'header', 'host']), detail }];
  });
  refuse('invalid_secret_use', unusable);
}

function refuse(code: 'unknown_secret' | 'invalid_secret_use', errors: readonly PointerError[]): void {
  const [first] = errors;
  if (first !== undefined) throw new ApiProblem(code, `${first.pointer}: ${first.detail}`, { errors });
}
