/**
 * Loaded before a worker by the bench of telemetry. SIGUSR2 collects garbage, for a comparison of resident memory.
 *
 * Two processes of the same program differ by more than the cost of telemetry in the off state. So a single worker is measured with telemetry
 * code and without, in turns: each SIGWINCH switches. In the off state the decorators of metrics and traces return their argument, so the switch
 * covers only the rest of telemetry: the context of the lines of the log, and the traces in these lines.
 */
import { registerHooks } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The same exports, without their work while the switch is off. `real` is the original module. */
const switched: Record<string, string> = {
  '/packages/runtime/src/jobs/log-job.ts': `export const logged = (kind, traceIds) => {
    const whole = real.logged(kind, traceIds);
    const now = () => (globalThis.benchLeavesTelemetryOut ? kind : whole);
    return { ...kind, handle: (...input) => now().handle(...input), wakeMissed: (...input) => now().wakeMissed(...input) };
  };`,
  '/packages/telemetry/src/logs/log-context.ts': `export const { withLogContext } = real;
  export const addContext = (traceOf) => {
    const add = real.addContext(traceOf);
    return (fields) => (globalThis.benchLeavesTelemetryOut ? fields : add(fields));
  };`,
};

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: object) => void;
// The last resort gives free pages back, too.
process.on('SIGUSR2', () => collect({ type: 'major', execution: 'sync', flavor: 'last-resort' }));

let isLeftOut = false;
process.on('SIGWINCH', () => {
  isLeftOut = !isLeftOut;
  Reflect.set(globalThis, 'benchLeavesTelemetryOut', isLeftOut);
});

const missing = new Set(Object.keys(switched));
registerHooks({
  load(url, context, next) {
    const found = Object.keys(switched).find((path) => url.endsWith(path));
    if (found === undefined) return next(url, context);
    missing.delete(found);
    const source = `import * as real from '${url}?real';\n${switched[found]}`;
    return { format: 'module', source, shortCircuit: true };
  },
});
// Without this check a moved file would be measured with telemetry in both turns.
setTimeout(() => {
  if (missing.size > 0) throw new Error(`no such files: ${[...missing].join(', ')}`);
}, 5000).unref();
