import { type Json, limitsSchema, planSchema, policySchema, type RunSpec } from '@holdpoint/contract';

interface TestStep {
  name?: string;
  tool?: string;
  args: Record<string, Json>;
}

/** A run of groups of `count` calls. */
export function specOf(
  groups: TestStep[][],
  more: { policy?: object; onError?: 'stop' | 'continue'; validators?: string[] } = {},
): RunSpec {
  return {
    toolset: 'test',
    goal: {
      planner: 'scripted',
      plan: planSchema.parse({
        groups: groups.map((steps) => ({
          on_error: more.onError ?? 'stop',
          steps: steps.map((step) => ({ tool: 'count', ...step })),
        })),
      }),
    },
    source: { type: 'empty' },
    policy: policySchema.parse(more.policy ?? {}),
    limits: limitsSchema.parse({}),
    network: { allow: [] },
    models: [],
    validators: (more.validators ?? []).map((command) => ({ command, timeout_s: 60 })),
    publish: { include_ignored: false },
    labels: {},
    priority: 'normal',
  };
}
