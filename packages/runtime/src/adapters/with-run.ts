import type { Sandbox } from '@holdpoint/sandbox';

/** The same sandbox with another `run`. The other methods need the original sandbox as `this`, for its private fields. */
export const withRun = (sandbox: Sandbox, run: Sandbox['run']): Sandbox =>
  new Proxy(sandbox, {
    get(target, name) {
      if (name === 'run') return run;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
