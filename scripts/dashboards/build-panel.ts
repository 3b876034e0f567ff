import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  BigValueColorMode,
  LegendDisplayMode,
  LegendPlacement,
  LogsSortOrder,
  ReduceDataOptionsBuilder,
  StackingConfigBuilder,
  StackingMode,
  VizLegendOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  DashboardLinkBuilder,
  type Panel as GrafanaPanel,
  PanelBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import * as heatmap from '@grafana/grafana-foundation-sdk/heatmap';
import * as logs from '@grafana/grafana-foundation-sdk/logs';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as table from '@grafana/grafana-foundation-sdk/table';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import { buildQuery, sourceOf } from './build-query.ts';
import type { Panel } from './source.ts';

/** A panel of Grafana. */
export function buildPanel(panel: Panel, id: number): Builder<GrafanaPanel> {
  const { queries, width = widths[panel.as], about, title, links = [] } = panel;
  const [first] = queries;
  if (first === undefined) throw new Error(`the panel ${title} has no query`);
  const built = visualise(panel)
    .id(id)
    .title(title)
    .description(about)
    .datasource(sourceOf(first))
    .span(width)
    .height(heights[panel.as]);
  for (const [index, query] of queries.entries()) built.withTarget(buildQuery(query, { panel, index }));
  if ('dataLinks' in built)
    built.dataLinks(links.map((link) => new DashboardLinkBuilder(link.title).url(link.url).targetBlank(false)));
  return built;
}

const widths = { lines: 8, stacked: 8, heatmap: 8, number: 4, table: 24, trace: 24, logs: 24 } as const;
const heights = { lines: 8, stacked: 8, heatmap: 8, number: 4, table: 9, trace: 16, logs: 12 } as const;

function visualise(panel: Panel) {
  const { unit = 'short' } = panel;
  switch (panel.as) {
    case 'lines':
      return lines(unit);
    case 'stacked':
      return lines(unit).fillOpacity(30).stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'));
    case 'number':
      return new stat.PanelBuilder()
        .unit(unit)
        .colorMode(BigValueColorMode.Value)
        .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
        .thresholds(thresholds(panel));
    case 'table':
      return new table.PanelBuilder().unit(unit).filterable(true);
    case 'heatmap':
      return new heatmap.PanelBuilder().yAxis(new heatmap.YAxisConfigBuilder().unit(unit));
    case 'logs':
      return new logs.PanelBuilder()
        .showTime(true)
        .wrapLogMessage(true)
        .enableLogDetails(true)
        .sortOrder(LogsSortOrder.Ascending);
    case 'trace':
      return new PanelBuilder().type('traces');
    default:
      throw panel.as satisfies never;
  }
}

const lines = (unit: string) =>
  new timeseries.PanelBuilder()
    .unit(unit)
    .min(0)
    .fillOpacity(8)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    );

const thresholds = ({ warn, bad }: Panel) =>
  new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([
      { value: null, color: 'green' },
      ...(warn === undefined ? [] : [{ value: warn, color: 'orange' }]),
      ...(bad === undefined ? [] : [{ value: bad, color: 'red' }]),
    ]);
