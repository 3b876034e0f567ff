import { AsyncLocalStorage } from 'node:async_hooks';

/** The subject of a line. */
export interface LogContext {
  run_id?: string | undefined;
  step_id?: string | undefined;
  task_id?: string | undefined;
  approval_id?: string | undefined;
  turn?: number | undefined;
}

const current = new AsyncLocalStorage<LogContext>();

/** Every log line of the work names the work's subject. */
export const withLogContext = <Result>(about: LogContext, work: () => Result): Result => current.run(about, work);

/**
 * The fields of a line, with the subject of its work, and the trace of its run. A line about another run than its work keeps its own fields.
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
