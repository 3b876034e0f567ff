import type { Case } from './case.ts';

/** Cases with a shared system, and the settings of its operator. */
export interface Group<One extends Case> {
  cases: One[];
  /** Fetches may reach loopback, where the stubs are. */
  loopback: boolean;
  hostEnv: Record<string, string>;
  secrets: Record<string, string>;
}

/**
 * Few groups: two cases are apart when they want different settings of the operator, or when a forbidden text of a case stands in the
 * other.
 */
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

/** For a case with stubs, fetches to loopback are its subject. Other cases have loopback refused, as for an operator. */
const wantsLoopback = ({ setup: { config, search } }: Case): boolean =>
  config.allow_loopback === true || config.url_allowlist !== undefined || search !== undefined;

const agree = (a: Record<string, string>, b: Record<string, string>): boolean =>
  Object.entries(b).every(([name, value]) => !Object.hasOwn(a, name) || a[name] === value);

/** Whether a deliberate write of the other case would count as a leak. Its secrets are not written without a request. */
function leaksInto(other: Case, { expect: { log_not_contains } }: Case): boolean {
  const { setup, call, expect } = other;
  const rest = JSON.stringify({ setup: { ...setup, secrets: undefined }, call });
  return log_not_contains.some((text) => !expect.log_not_contains.includes(text) && rest.includes(text));
}
