import type { Link } from './source.ts';

/** From a row of a table of spans to the page of its run. */
export const toRun: Link = {
  title: 'the run',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana expands it
  url: '/d/holdpoint-run?var-run=${__data.fields["holdpoint.run.id"]}&var-trace=${__data.fields.traceIdHidden}',
};
