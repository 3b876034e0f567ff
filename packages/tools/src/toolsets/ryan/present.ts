import type { Json, SettledCall } from '@holdpoint/contract';

const nanosecondsPerMs = 1_000_000;

/** The contract's result: `{success, content, data?, error?, metadata}`. Durations are integer nanoseconds. */
export function presentRyan(call: SettledCall): Json {
  const error = call.status === 'succeeded' ? undefined : errorOf(call);
  const { content, data } = contentOf(call.value);
  return {
    success: error === undefined,
    content,
    ...(data !== undefined && { data }),
    ...(error !== undefined && { error }),
    metadata: metadataOf(call),
  };
}

function metadataOf({ tool, args, edited, times }: SettledCall): Json {
  const { created_at, started_at, settled_at, queued_ms, duration_ms } = times;
  return {
    execution_time: nanoseconds(duration_ms),
    queue_time: nanoseconds(queued_ms),
    total_time: nanoseconds(Date.parse(settled_at) - Date.parse(created_at)),
    start_time: started_at ?? settled_at,
    end_time: settled_at,
    tool_name: tool,
    parameters: args,
    ...(edited !== undefined && { executed_parameters: edited }),
  };
}

const nanoseconds = (ms: number): number => Math.max(0, Math.round(ms * nanosecondsPerMs));

/** The tools' values: the output of a command, or the content of a file. Any other value is shown unchanged. */
function contentOf(value: Json | undefined): { content: string; data?: Json } {
  if (value === undefined || value === null) return { content: '' };
  if (typeof value !== 'object' || Array.isArray(value)) return { content: '', data: value };
  const { output, content, ...data } = value;
  if (typeof output === 'string') return { content: output, data: content === undefined ? data : { content, ...data } };
  return typeof content === 'string' ? { content, data } : { content: '', data: value };
}

/** In the words of the contract, for every possible end of a call. */
function errorOf({ tool, status, error }: SettledCall): string {
  const { code = '', message = `the call ${status}` } = error ?? {};
  switch (code) {
    case 'EUNKNOWNTOOL':
    case 'EUNKNOWNTOOLSET':
      return `tool not found: ${tool}`;
    case 'EINVALIDARGS':
      return `invalid parameters: ${message}`;
    case 'EREJECTED':
    case 'EEXPIRED':
    case 'ERESPONDED':
      return `denied: ${message}`;
    case 'EPERMISSION':
      return `security: blocked: ${message}`;
    case 'ETIMEOUT':
      return `command timed out: ${message}`;
    case 'EQUOTA':
      return `quota: ${message}`;
    case 'ECANCELED':
    case 'EKILLED':
      return `canceled: ${message}`;
    default:
      return byStatus(status, message);
  }
}

function byStatus(status: SettledCall['status'], message: string): string {
  switch (status) {
    case 'rejected':
    case 'expired':
      return `denied: ${message}`;
    case 'timed_out':
      return `timed out: ${message}`;
    case 'killed':
    case 'canceled':
    case 'indeterminate':
    case 'undone':
      return `canceled: ${message}`;
    case 'succeeded':
    case 'failed':
      return message;
    default:
      return status satisfies never;
  }
}
