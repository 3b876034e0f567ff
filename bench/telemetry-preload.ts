/**
 * Loaded before a worker by the bench of telemetry. SIGUSR2 collects garbage, so that resident memory can be compared.
 *
 * What telemetry costs while it is off is less than two processes of one program differ by. So one worker is measured with it and without it, in
 * turns: each SIGWINCH switches. Off, the decorators of metrics and traces return what they were given, so only what is left of telemetry
 * then is behind that switch: the context of the lines of the log, and the traces that they name.
 */
import { registerHooks } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The same exports, which leave their work out while the switch says so. `real` is the module itself. */
const switched: Record<string, string> = {
  '/packages/runtime/src/jobs/log-job.ts': `export const logged = (kind, traceIds) => {
    const whole = real.logged(kind, traceIds);
    const now = () => (globalThis.benchLeavesTelemetryOut ? kind : whole);
    return { ...kind, handle: (...input) => now().handle(...input), lookAgain: (...input) => now().lookAgain(...input) };
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
// A file that has moved would be measured with telemetry in both turns.
setTimeout(() => {
  if (missing.size > 0) throw new Error(`no such files: ${[...missing].join(', ')}`);
}, 5000).unref();
