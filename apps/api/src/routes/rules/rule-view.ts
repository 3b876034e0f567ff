import type { RememberedRule } from '@holdpoint/contract/wire';
import type { ListedRule } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';

export async function toRule(
  { engine }: Pick<ApiDeps, 'engine'>,
  { rule, runId, isInForce }: ListedRule,
): Promise<RememberedRule> {
  const {
    scope,
    approval_id,
    toolset,
    tool,
    args,
    effect,
    reaches = null,
    call_digest,
    by,
    made_at,
    expires_at,
  } = rule.made;
  return {
    ...{ id: rule.id, scope, run_id: runId, approval_id, toolset, tool, effect, reaches, call_digest, expires_at },
    args: await engine.read(args),
    created_at: made_at,
    created_by: by,
    in_force: isInForce,
    revoked_by: rule.revoked_by ?? null,
  };
}
