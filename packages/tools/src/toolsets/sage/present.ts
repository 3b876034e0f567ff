import { fixedTime, type Json, type SettledCall, type SettledStatus } from '@holdpoint/contract';

/** The mistake of a call, in the contract's words. */
type Code = 'EVALIDATION' | 'EPERMISSION' | 'ERUNTIME' | 'ETIMEOUT' | 'EQUOTA';

/** `{ok: true, data, meta}`, or `{ok: false, error: {code, message}, data?, meta}`, whatever settled the call. */
export function presentSage(call: SettledCall): Json {
  const { status, value } = call;
  const meta = metaOf(call);
  if (status === 'succeeded') return { ok: true, data: value ?? null, meta };
  const { code: reason = status, message = `The call ended as ${status}.`, next } = call.error ?? {};
  return {
    ok: false,
    error: { code: codeOf(status, reason), message: next ? `${message} ${next}` : message },
    ...(value !== undefined && { data: value }),
    meta: { ...meta, cause: { code: reason, message } },
  };
}

function metaOf({ times: { started_at, settled_at, duration_ms }, modes }: SettledCall): Record<string, Json> {
  const dryRun = modes.dry_run && { dryRun: true };
  if (modes.deterministic) {
    const now = new Date(fixedTime).toISOString();
    return { startedAt: now, endedAt: now, durationMs: 0, ...dryRun };
  }
  return { startedAt: started_at ?? settled_at, endedAt: settled_at, durationMs: Math.max(0, duration_ms), ...dryRun };
}

function codeOf(status: Exclude<SettledStatus, 'succeeded'>, reason: string): Code {
  switch (status) {
    case 'rejected':
    case 'expired':
      return 'EPERMISSION';
    case 'timed_out':
      return 'ETIMEOUT';
    case 'killed':
    case 'canceled':
    case 'indeterminate':
    case 'undone':
      return 'ERUNTIME';
    case 'failed':
      return codes.get(reason) ?? 'ERUNTIME';
    default:
      return status satisfies never;
  }
}

const reasons: Record<Exclude<Code, 'ERUNTIME'>, readonly string[]> = {
  EVALIDATION: [
    ...['EINVALIDARGS', 'EREFERENCE', 'EUNKNOWNTOOL', 'EUNKNOWNTOOLSET'],
    ...['ESECRETUNKNOWN', 'EPATCHINVALID', 'EPATCHFILE', 'EINVAL'],
  ],
  EPERMISSION: ['EPERMISSION', 'EREJECTED', 'ERESPONDED', 'EEXPIRED', 'EOUTSIDE', 'EREPOSITORY'],
  ETIMEOUT: ['ETIMEOUT', 'ETEXTTIME'],
  EQUOTA: ['EQUOTA', 'EFILETOOLARGE', 'EFBIG', 'ENOSPC', 'ETEXTMEMORY'],
};

/** Codes of the gate, of files and of tools. Every other code is an `ERUNTIME`. */
const codes = new Map(
  (Object.keys(reasons) as (keyof typeof reasons)[]).flatMap((code) =>
    reasons[code].map((reason) => [reason, code] as const),
  ),
);
