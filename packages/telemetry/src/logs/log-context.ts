import { AsyncLocalStorage } from 'node:async_hooks';

/** What a line is about. */
export interface LogContext {
  run_id?: string | undefined;
  step_id?: string | undefined;
  task_id?: string | undefined;
  approval_id?: string | undefined;
  turn?: number | undefined;
}

const current = new AsyncLocalStorage<LogContext>();

/** Every line that is logged during the work says what the work is about. */
export const withLogContext = <Result>(about: LogContext, work: () => Result): Result => current.run(about, work);

/**
 * The fields of a line, with what its work is about, and the trace of its run. A line about another run than its work keeps its own fields.
 * @param traceOf the trace of a run
 */
export const addContext =
  (traceOf: (runId: string) => string | undefined) =>
  (fields: Record<string, unknown>): Record<string, unknown> => {
    const about = current.getStore();
    const isOwn = about !== undefined && (fields.run_id === undefined || fields.run_id === about.run_id);
    const all = isOwn ? { ...about, ...fields } : fields;
    if (typeof all.run_id !== 'string' || all.trace_id !== undefined) return all;
    return { ...all, trace_id: traceOf(all.run_id) };
  };
