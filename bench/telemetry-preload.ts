/**
 * Loaded before a worker by the bench of telemetry. SIGUSR2 collects garbage, so that resident memory can be compared. With
 * BENCH_WITHOUT_TELEMETRY the worker is a build without telemetry: what decorates its parts for traces, metrics and lines of the log is
 * left out of the program.
 */
import { registerHooks } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const runtime = '/packages/runtime/src/';
const leftOut: Record<string, string> = {
  [`${runtime}jobs/log-job.ts`]: 'export const logged = (kind) => kind;',
  [`${runtime}metrics/meter-executor.ts`]: 'export const meterExecutor = (executor) => executor;',
  [`${runtime}metrics/meter-model.ts`]: 'export const meterModel = (model) => model;',
  [`${runtime}metrics/meter-sandbox.ts`]: 'export const meterSandbox = (sandbox) => sandbox;',
  [`${runtime}metrics/meter-workspaces.ts`]: 'export const meterWorkspaces = (port) => port;',
  [`${runtime}metrics/observe-worker.ts`]: 'export const observeWorker = () => {};',
  [`${runtime}traces/open-worker-traces.ts`]:
    'const same = (one) => one; export const openWorkerTraces = () => ({ sandbox: same, model: same, deps: same });',
  '/packages/telemetry/src/logs/log-context.ts':
    'export const withLogContext = (about, work) => work(); export const addContext = () => (fields) => fields;',
};

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: object) => void;
// The last resort gives free pages back, too.
process.on('SIGUSR2', () => collect({ type: 'major', execution: 'sync', flavor: 'last-resort' }));

if (process.env.BENCH_WITHOUT_TELEMETRY !== undefined) {
  const missing = new Set(Object.keys(leftOut));
  registerHooks({
    load(url, context, next) {
      const found = Object.keys(leftOut).find((path) => url.endsWith(path));
      if (found === undefined) return next(url, context);
      missing.delete(found);
      return { format: 'module', source: leftOut[found] ?? '', shortCircuit: true };
    },
  });
  // A file that has moved would be measured as if it were left out.
  setTimeout(() => {
    if (missing.size > 0) throw new Error(`no such files: ${[...missing].join(', ')}`);
  }, 5000).unref();
}
