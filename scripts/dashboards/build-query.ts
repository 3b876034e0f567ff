import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import type { DataSourceRef } from '@grafana/grafana-foundation-sdk/common';
import * as loki from '@grafana/grafana-foundation-sdk/loki';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import * as tempo from '@grafana/grafana-foundation-sdk/tempo';
import type { Panel, Query } from './source.ts';

/** The data sources are choices at the top of each page, for use with the operator's own data sources. */
export const sources = {
  metrics: { type: 'prometheus', uid: '$metrics' },
  traces: { type: 'tempo', uid: '$traces' },
  logs: { type: 'loki', uid: '$logs' },
} as const satisfies Record<string, DataSourceRef>;

export function sourceOf(query: Query): DataSourceRef {
  if ('promql' in query) return sources.metrics;
  return 'logql' in query ? sources.logs : sources.traces;
}

/** @param place the first query of a panel is `A` */
export function buildQuery(query: Query, { panel, index }: { panel: Panel; index: number }): Builder<Dataquery> {
  return target(query, panel)
    .refId(String.fromCharCode(65 + index))
    .datasource(sourceOf(query));
}

function target(query: Query, { as }: Panel) {
  if ('logql' in query) return new loki.DataqueryBuilder().expr(query.logql).queryType('range');
  if ('traceId' in query) return new tempo.DataqueryBuilder().query(query.traceId).queryType('traceql');
  if ('traceql' in query) {
    const tableType = { traces: tempo.SearchTableType.Traces, spans: tempo.SearchTableType.Spans }[query.of];
    return new tempo.DataqueryBuilder().query(query.traceql).queryType('traceql').tableType(tableType).limit(200);
  }
  const { promql, legend = '__auto', exemplars = false } = query;
  const built = new prometheus.DataqueryBuilder().expr(promql).legendFormat(legend).exemplar(exemplars);
  if (as === 'heatmap') return built.range().format(prometheus.PromQueryFormat.Heatmap);
  if (as === 'table') return built.instant().format(prometheus.PromQueryFormat.Table);
  return built.range();
}
