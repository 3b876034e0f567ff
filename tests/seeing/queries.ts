import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../harness/index.ts';
import { readRules } from './read-rules.ts';

interface Dashboard {
  title: string;
  panels: { title: string; targets?: { expr?: string; datasource: { type: string } }[] }[];
  templating: { list: { query: unknown }[] };
}

const folder = join(projectDir, 'infra/grafana/dashboards');
const dashboards = readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Dashboard);

/** Grafana's values for its variables. */
const concrete = (promql: string): string =>
  promql
    .replaceAll('$__rate_interval', '5m')
    .replaceAll('$__range', '1h')
    .replaceAll(/\$(tool|model)\b/g, '.*');

/** Every query of every panel answered by Prometheus. */
export const panelQueries = dashboards.flatMap((dashboard) =>
  dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.flatMap(({ expr, datasource }) =>
      datasource.type === 'prometheus' && expr !== undefined
        ? [{ page: dashboard.title, title, promql: concrete(expr) }]
        : [],
    ),
  ),
);

/** The values of every choice at the top of a page. */
export const choiceQueries = dashboards.flatMap(({ templating }) =>
  templating.list.flatMap(({ query }) => {
    const text = typeof query === 'object' && query !== null && 'query' in query ? String(query.query) : '';
    const found = [...text.matchAll(/label_values\((\w+), (\w+)\)/g)];
    return found.map(([, name, label]) => `count by (${label}) (${name})`);
  }),
);

/** The series read by the alerts: an alert alone has a result only during its fault. */
export const alertSelectors = [
  ...new Set(
    readRules().flatMap(
      ({ expr }) => expr.match(/\b(?:holdpoint_|gen_ai_client_|http_server_|process_|up\b)\w*(?:\{[^}]*\})?/g) ?? [],
    ),
  ),
];
