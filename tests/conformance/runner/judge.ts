import type { Json } from '@holdpoint/contract';
import type { Expect } from './case.ts';
import { type FileState, fileMismatch } from './file-state.ts';
import { type Found, type Mismatch, mismatch, missing, show } from './match.ts';
import { locate } from './pointer.ts';

/** The traces of a case, gathered after its call settled. */
export interface Observed {
  /** The toolset's own result. */
  native: Found;
  /** Success, in the toolset's own sense. */
  ok: boolean;
  /** The toolset's own code of the failure. */
  errorCode: string | undefined;
  /** The part of the result at the start of pointers. */
  root: Found;
  approval: { required: boolean; risk: string | undefined };
  files: ReadonlyMap<string, FileState>;
  /** Changed paths outside of the workspace. */
  changedOutside: readonly string[];
  httpHits: number;
  /** Milliseconds from runnable to settled. */
  ms: number;
  /** Texts forbidden in the log, with their places. */
  leaks: readonly { text: string; place: string }[];
  /** Files with process ids, with the remaining processes of the sandbox; undefined for a missing file, or a file without an id. */
  leftovers: ReadonlyMap<string, readonly string[] | undefined>;
}

/** A failed expectation. The pointer leads into `expect`, and from `/result` on into the result. */
export interface Failure extends Mismatch {
  pointer: string;
}

export function judge(expect: Expect, observed: Observed, { tool }: { tool: string }): Failure[] {
  return [
    ...judgeOk(expect, observed),
    ...judgeCode(expect, observed),
    ...judgeResult(expect, observed, tool === '$definitions'),
    ...judgeFiles(expect, observed),
    ...judgeApproval(expect, observed),
    ...judgeEffects(expect, observed),
    ...judgeTexts(expect, observed),
  ];
}

const failure = (pointer: string, expected: unknown, got: unknown): Failure => ({
  pointer,
  expected: typeof expected === 'string' ? expected : show(expected),
  got: typeof got === 'string' ? got : show(got),
});

function judgeOk({ ok, any_ok }: Expect, observed: Observed): Failure[] {
  if (observed.native === missing) return [failure('/result', 'a result', 'none')];
  if (ok === undefined || any_ok === true || ok === observed.ok) return [];
  return [failure('/ok', String(ok), `${observed.ok}: ${show(observed.native)}`)];
}

function judgeCode({ error_code }: Expect, { errorCode, native }: Observed): Failure[] {
  if (error_code === undefined || (errorCode !== undefined && error_code.includes(errorCode))) return [];
  return [failure('/error_code', error_code.join(' or '), errorCode ?? `no code: ${show(native)}`)];
}

function judgeResult({ result }: Expect, { root }: Observed, extraKeys: boolean): Failure[] {
  return Object.entries(result).flatMap(([pointer, matcher]) =>
    locate(root, pointer).flatMap((located) => {
      const wrong = mismatch(located.found, matcher, { extraKeys });
      return wrong ? [{ pointer: `/result${located.pointer}`, ...wrong }] : [];
    }),
  );
}

function judgeFiles({ files }: Expect, observed: Observed): Failure[] {
  return Object.entries(files).flatMap(([path, matcher]) => {
    const wrong = fileMismatch(observed.files.get(path) ?? { type: 'absent' }, matcher);
    return wrong ? [{ pointer: `/files/${path.replaceAll('~', '~0').replaceAll('/', '~1')}`, ...wrong }] : [];
  });
}

function judgeApproval({ approval = {} }: Expect, { approval: got }: Observed): Failure[] {
  const { required, risk } = approval;
  return [
    ...(required === undefined || required === got.required
      ? []
      : [failure('/approval/required', String(required), String(got.required))]),
    ...(risk === undefined || risk === got.risk ? [] : [failure('/approval/risk', risk, got.risk ?? 'none')]),
  ];
}

function judgeEffects(expect: Expect, observed: Observed): Failure[] {
  const { outside_unchanged, http_hits, max_ms, pids_dead_from } = expect;
  const failures: Failure[] = [];
  if (outside_unchanged && observed.changedOutside.length > 0) {
    failures.push(failure('/outside_unchanged', 'no change', observed.changedOutside.join(', ')));
  }
  if (http_hits !== undefined && http_hits !== observed.httpHits) {
    failures.push(failure('/http_hits', String(http_hits), String(observed.httpHits)));
  }
  // A time of NaN was not kept.
  if (max_ms !== undefined && !(observed.ms <= max_ms)) {
    failures.push(failure('/max_ms', `at most ${max_ms}`, String(observed.ms)));
  }
  for (const file of pids_dead_from) {
    const left = observed.leftovers.get(file);
    if (left === undefined) failures.push(failure('/pids_dead_from', `process ids in ${file}`, 'none'));
    else if (left.length > 0) failures.push(failure('/pids_dead_from', 'no process', left.join(', ')));
  }
  return failures;
}

function judgeTexts(expect: Expect, { native, leaks }: Observed): Failure[] {
  const { max_result_bytes, result_not_contains } = expect;
  const failures = leaks.map(({ text, place }) => failure('/log_not_contains', `no ${show(text)}`, `in ${place}`));
  if (native === missing) return failures;
  const json = JSON.stringify(native);
  const bytes = Buffer.byteLength(json);
  if (max_result_bytes !== undefined && bytes > max_result_bytes) {
    failures.push(failure('/max_result_bytes', `at most ${max_result_bytes}`, String(bytes)));
  }
  for (const text of result_not_contains) {
    if (json.includes(text) || textsOf(native as Json).some((one) => one.includes(text))) {
      failures.push(failure('/result_not_contains', `no ${show(text)}`, show(native)));
    }
  }
  return failures;
}

/** Every text of a value, keys included: JSON writes some characters otherwise. */
function textsOf(value: Json): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => [key, ...textsOf(one as Json)]);
}
