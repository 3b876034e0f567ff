import { ApiError } from '@holdpoint/client';
import { fromPointer } from '@holdpoint/contract';
import type { RunFile } from '../../plan/yaml-file.ts';
import type { Setting } from '../../request/set-fields.ts';

/** The place of a mistake in the API's answer, and the responsible option. A longer place comes before its prefix. */
const options: readonly (readonly [pointer: string, option: string])[] = [
  ['/network/allow', '--allow-net'],
  ['/workspace/source/ref', '--ref'],
  ['/workspace/source/path', '--source /path'],
  ['/workspace/source/type', '--source /type'],
  ['/workspace/source/url', '--source /url'],
  ['/validators', '--validate'],
  ['/outside_agent', '--agent'],
  ['/toolset', '--toolset'],
  ['/labels', '--label'],
  ['/policy', '--policy'],
  ['/model', '--model'],
  ['/title', '--title'],
];

/** How the caller gave the fields of a request. */
export interface Given {
  settings: readonly Setting[];
  /** Fields of the request from the file of a plan: they keep their names. */
  fromPlan: readonly string[];
  /** Fields from a run file: they are named by their place in the file. */
  fromFile: readonly string[];
  file: RunFile | undefined;
}

/** A refusal with the options of the command line, or the places of the run file, in place of the fields of the request. */
export function nameOptions(error: unknown, given: Given): unknown {
  if (!(error instanceof ApiError)) return error;
  const errors = error.errors.map(({ pointer, detail }) => ({ pointer: nameOf(pointer, given), detail }));
  const { code, status, detail, next, conflicts, approvalId: approval_id, requestId: request_id } = error;
  const named = { code, status, detail, next, errors, conflicts: [...conflicts] };
  return new ApiError(
    { ...named, ...(approval_id && { approval_id }), ...(request_id && { request_id }) },
    { cause: error },
  );
}

/** The name of a field for the person who gave the field. */
export function nameOf(pointer: string, { settings, fromPlan, fromFile, file }: Given): string {
  const path = fromPointer(pointer);
  const set = settings.findLast((setting) => setting.path.every((key, at) => path[at] === key));
  if (set !== undefined) return `--set ${set.path.join('.')} ${within(path, set)}`.trim();
  const [field = ''] = path;
  if (fromPlan.includes(field)) return pointer;
  if (file !== undefined && fromFile.includes(field)) return `${file.place(path)}: ${path.join('.')}`;
  if (pointer === '/workspace/source') return '--source';
  const [prefix, option] = options.find(([prefix]) => pointer === prefix || pointer.startsWith(`${prefix}/`)) ?? [];
  if (prefix === undefined || option === undefined) return pointer;
  return `${option} ${pointer.slice(prefix.length).replace(/^\/\d+(?=\/|$)/, '')}`.trim();
}

function within(path: readonly string[], { path: { length }, isAppended }: Setting): string {
  const rest = path.slice(isAppended ? length + 1 : length);
  return rest.map((key) => `/${key}`).join('');
}
