import { ApiError } from '@holdpoint/client';

/** The place of a mistake in the API's answer, and the responsible option. A longer place comes before its prefix. */
const options: readonly (readonly [pointer: string, option: string])[] = [
  ['/prepare/network/allow', '--prepare-allow'],
  ['/prepare/commands', '--prepare'],
  ['/network/allow', '--allow-net'],
  ['/options/max_output_tokens', '--max-output-tokens'],
  ['/options/temperature', '--temperature'],
  ['/options/reasoning_effort', '--effort'],
  ['/workspace/source/credentials/username', '--source-user'],
  ['/workspace/source/credentials/secret', '--source-secret'],
  ['/workspace/source/known_hosts', '--known-hosts'],
  ['/workspace/source/include', '--include'],
  ['/workspace/source/exclude', '--exclude'],
  ['/workspace/source/history', '--history'],
  ['/workspace/source/with', '--with'],
  ['/workspace/source/type', '--source-type'],
  ['/workspace/source/ref', '--ref'],
  ['/workspace/source', '--source'],
  ['/output_schema', '--output-schema'],
  ['/permissions', '--permission'],
  ['/validators', '--validate'],
  ['/fallbacks', '--fallback'],
  ['/settings', '--settings'],
  ['/toolset', '--toolset'],
  ['/secrets', '--secret'],
  ['/labels', '--label'],
  ['/policy', '--policy'],
  ['/system', '--system'],
  ['/images', '--image'],
  ['/model', '--model'],
  ['/title', '--title'],
];

/**
 * A refusal with the options of the command line in place of the fields of the request.
 *
 * @param fromFile fields of the request from the file of a plan: they keep their names
 */
export function nameOptions(error: unknown, fromFile: readonly string[]): unknown {
  if (!(error instanceof ApiError)) return error;
  const errors = error.errors.map(({ pointer, detail }) => ({ pointer: optionOf(pointer, fromFile), detail }));
  const { code, status, detail, next, conflicts, approvalId: approval_id, requestId: request_id } = error;
  const named = { code, status, detail, next, errors, conflicts: [...conflicts] };
  return new ApiError(
    { ...named, ...(approval_id && { approval_id }), ...(request_id && { request_id }) },
    { cause: error },
  );
}

function optionOf(pointer: string, fromFile: readonly string[]): string {
  if (fromFile.includes(pointer.split('/')[1] ?? '')) return pointer;
  const [field, option] = options.find(([field]) => pointer === field || pointer.startsWith(`${field}/`)) ?? [];
  if (field === undefined || option === undefined) return pointer;
  const within = pointer.slice(field.length).replace(/^\/\d+(?=\/|$)/, '');
  return `${option} ${within}`.trim();
}
