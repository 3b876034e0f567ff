import type { Case } from './case.ts';

/** Cases that can share a system, with what its operator sets. */
export interface Group<One extends Case> {
  cases: One[];
  /** Fetches may reach loopback, where the stubs are. */
  loopback: boolean;
  hostEnv: Record<string, string>;
  secrets: Record<string, string>;
}

/** Few groups: two cases are apart when they want different settings of the operator, or when a text that one must not leak stands in the other. */
export function groupCases<One extends Case>(cases: readonly One[]): Group<One>[] {
  const groups: Group<One>[] = [];
  for (const one of cases) {
    const group = groups.find((other) => fits(other, one));
    if (group) add(group, one);
    else groups.push(add({ cases: [], loopback: wantsLoopback(one), hostEnv: {}, secrets: {} }, one));
  }
  return groups;
}

function add<One extends Case>(group: Group<One>, one: One): Group<One> {
  group.cases.push(one);
  Object.assign(group.hostEnv, one.setup.host_env);
  Object.assign(group.secrets, one.setup.secrets);
  return group;
}

function fits<One extends Case>(group: Group<One>, one: One): boolean {
  if (group.loopback !== wantsLoopback(one)) return false;
  if (!agree(group.hostEnv, one.setup.host_env) || !agree(group.secrets, one.setup.secrets ?? {})) return false;
  return group.cases.every((other) => !leaksInto(other, one) && !leaksInto(one, other));
}

/** Where the stubs are, fetches to loopback are what the case is about. Elsewhere they are refused, as an operator has it. */
const wantsLoopback = ({ setup: { config, search } }: Case): boolean =>
  config.allow_loopback === true || config.url_allowlist !== undefined || search !== undefined;

const agree = (a: Record<string, string>, b: Record<string, string>): boolean =>
  Object.entries(b).every(([name, value]) => !Object.hasOwn(a, name) || a[name] === value);

/** Whether what the other case writes on purpose would be taken as a leak. Its secrets are not written by itself. */
function leaksInto(other: Case, { expect: { log_not_contains } }: Case): boolean {
  const { setup, call, expect } = other;
  const rest = JSON.stringify({ setup: { ...setup, secrets: undefined }, call });
  return log_not_contains.some((text) => !expect.log_not_contains.includes(text) && rest.includes(text));
}
