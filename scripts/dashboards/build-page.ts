import {
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  TextBoxVariableBuilder,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { buildPanel } from './build-panel.ts';
import { sources } from './build-query.ts';
import type { Page, Query, Variable } from './source.ts';

const tag = 'holdpoint';

/** A dashboard of Grafana. */
export function buildPage(page: Page): Dashboard {
  const built = new DashboardBuilder(`Holdpoint: ${page.title}`)
    .uid(`${tag}-${page.name}`)
    .description(page.about)
    .tags([tag])
    .readonly()
    .refresh('30s')
    .time({ from: 'now-3h', to: 'now' })
    .tooltip(DashboardCursorSync.Crosshair)
    .link(
      new DashboardLinkBuilder('Holdpoint')
        .type(DashboardLinkType.Dashboards)
        .tags([tag])
        .asDropdown(true)
        .keepTime(true)
        .includeVars(false),
    );
  for (const name of sourcesOf(page)) built.withVariable(new DatasourceVariableBuilder(name).type(sources[name].type));
  for (const variable of page.variables ?? []) built.withVariable(buildVariable(variable));
  let id = 0;
  for (const row of page.rows) {
    built.withRow(new RowBuilder(row.title).id(++id));
    for (const panel of row.panels) built.withPanel(buildPanel(panel, ++id));
  }
  return built.build();
}

function sourcesOf({ rows }: Page): (keyof typeof sources)[] {
  const queries = rows.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries));
  const asks = (name: keyof Query | 'promql' | 'logql') => queries.some((query) => name in query);
  return [
    ...(asks('promql') ? (['metrics'] as const) : []),
    ...(queries.some((query) => 'traceql' in query || 'traceId' in query) ? (['traces'] as const) : []),
    ...(asks('logql') ? (['logs'] as const) : []),
  ];
}

const buildVariable = (variable: Variable) =>
  'text' in variable
    ? new TextBoxVariableBuilder(variable.name).label(variable.label).defaultValue(variable.text)
    : new QueryVariableBuilder(variable.name)
        .label(variable.label)
        .datasource(sources.metrics)
        .query({ qryType: 1, query: `label_values(${variable.of}, ${variable.valuesOf})`, refId: 'values' })
        .refresh(VariableRefresh.OnTimeRangeChanged)
        .includeAll(true)
        .multi(true)
        .allValue('.*');
