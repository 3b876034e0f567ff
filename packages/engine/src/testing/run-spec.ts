import { type Json, limitsSchema, modesSchema, planSchema, policySchema, type RunSpec } from '@holdpoint/contract';

interface TestStep {
  name?: string;
  tool?: string;
  args: Record<string, Json>;
}

type Grants = Pick<RunSpec, 'permissions' | 'protected'> & { modes: Partial<RunSpec['modes']> };

/** A run of groups of `count` calls. */
export function specOf(
  groups: TestStep[][],
  more: {
    policy?: object;
    onError?: 'stop' | 'continue';
    concurrent?: true;
    validators?: string[];
    settings?: RunSpec['settings'];
  } & Partial<Grants> = {},
): RunSpec {
  return {
    toolset: 'test',
    settings: more.settings ?? {},
    goal: {
      planner: 'scripted',
      plan: planSchema.parse({
        groups: groups.map((steps) => ({
          on_error: more.onError ?? 'stop',
          ...(more.concurrent && { concurrent: true }),
          steps: steps.map((step) => ({ tool: 'count', ...step })),
        })),
      }),
    },
    source: { type: 'empty' },
    policy: policySchema.parse(more.policy ?? {}),
    limits: limitsSchema.parse({}),
    network: { allow: [] },
    permissions: more.permissions,
    protected: more.protected ?? [],
    modes: modesSchema.parse(more.modes ?? {}),
    models: [],
    validators: (more.validators ?? []).map((command) => ({ command, timeout_s: 60 })),
    publish: { include_ignored: false },
    labels: {},
    priority: 'normal',
  };
}

/** A run whose calls come from outside. */
export const openSpec = (
  more: Parameters<typeof specOf>[1] & { limits?: Partial<RunSpec['limits']> } = {},
): RunSpec => {
  const spec = specOf([[{ args: {} }]], more);
  return { ...spec, goal: { planner: 'open' }, limits: limitsSchema.parse(more.limits ?? {}) };
};
