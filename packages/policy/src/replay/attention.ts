import type { PolicyAction } from '@holdpoint/contract';
import type { RecordedCall } from './recorded-call.ts';

/**
 * How much a person should look at a call that has another verdict now, the most first: what would newly run, and of that what was denied,
 * then refused, then not decided, then approved; then what would newly be held; then what would newly be denied.
 */
export function attention(call: Pick<RecordedCall, 'action' | 'decision'>, now: PolicyAction): number {
  const kinds: Record<PolicyAction, number> = { allow: 20, hold: 10, deny: 0 };
  return kinds[now] + concern(call);
}

function concern({ action, decision }: Pick<RecordedCall, 'action' | 'decision'>): number {
  if (action === 'deny') return 3;
  if (isRefused({ decision })) return 2;
  return decision === undefined || decision.kind === 'expired' ? 1 : 0;
}

/** A person did not want the call as it was. An edit replaces it. */
export const isRefused = ({ decision }: Pick<RecordedCall, 'decision'>): boolean =>
  decision !== undefined && ['reject', 'respond', 'edit'].includes(decision.kind);
