import { increase, m, observed, type Page, quantile, toRun } from '../source.ts';

const chosen = '{gen_ai_request_model=~"$model"}';
/** A request canceled with its run has not failed. */
const failed = '{gen_ai_request_model=~"$model", error_type!~"|canceled"}';
const model = ['gen_ai_request_model'];

export const models: Page = {
  name: 'models',
  title: 'models and cost',
  about:
    'Requests to models: time, errors, tokens and cost. Cost needs a price, from the table or HOLDPOINT_MODEL_PRICES.',
  variables: [{ name: 'model', label: 'Model', valuesOf: 'gen_ai_request_model', of: `${m.modelDuration}_count` }],
  rows: [
    {
      title: 'Cost and tokens',
      panels: [
        {
          title: 'Cost',
          about: 'US dollars in the time shown.',
          as: 'number',
          unit: 'currencyUSD',
          queries: [{ promql: increase('cost', { where: chosen }) }],
        },
        {
          title: 'Cost per hour',
          about: 'US dollars per hour, by model.',
          as: 'stacked',
          unit: 'currencyUSD',
          width: 10,
          queries: [
            {
              promql: `3600 * sum by (gen_ai_request_model) (rate(${m.cost}${chosen}[$__rate_interval]))`,
              legend: '{{gen_ai_request_model}}',
            },
          ],
        },
        {
          title: 'Tokens',
          about: 'Tokens per second by model and kind.',
          as: 'stacked',
          width: 10,
          queries: [
            {
              promql: `sum by (gen_ai_request_model, gen_ai_token_type) (rate(${m.tokens}_sum${chosen}[$__rate_interval]))`,
              legend: '{{gen_ai_request_model}} {{gen_ai_token_type}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Requests',
      panels: [
        {
          title: 'Requests',
          about: 'Requests per second by model.',
          as: 'stacked',
          unit: 'reqps',
          queries: [
            { promql: observed('modelDuration', { by: model, where: chosen }), legend: '{{gen_ai_request_model}}' },
          ],
        },
        {
          title: 'Errors',
          about: 'Failed requests per second. EMODELRATELIMIT: the provider asks for fewer requests.',
          as: 'stacked',
          unit: 'reqps',
          queries: [
            {
              promql: observed('modelDuration', { by: [...model, 'error_type'], where: failed }),
              legend: '{{gen_ai_request_model}} {{error_type}}',
            },
          ],
        },
        {
          title: 'Part of the requests that fail',
          about: 'Retries hide errors from users as long as this stays low.',
          as: 'lines',
          unit: 'percentunit',
          queries: [
            {
              promql: `${observed('modelDuration', { by: model, where: failed })} / ${observed('modelDuration', { by: model, where: chosen })}`,
              legend: '{{gen_ai_request_model}}',
            },
          ],
        },
        {
          title: 'Time of a request',
          about: '95 % of the requests, by model.',
          as: 'lines',
          unit: 's',
          queries: [
            {
              promql: quantile(0.95, 'modelDuration', { by: model, where: chosen }),
              legend: '{{gen_ai_request_model}}',
              exemplars: true,
            },
          ],
        },
        {
          title: 'Time to the first part of an answer',
          about: '95 % of the streamed requests, by model.',
          as: 'lines',
          unit: 's',
          queries: [
            {
              promql: quantile(0.95, 'firstToken', { by: model, where: chosen }),
              legend: '{{gen_ai_request_model}}',
            },
          ],
        },
        {
          title: 'Input read from caches',
          about:
            'Part of the input tokens, by model. A part that falls means that the beginning of the conversations changes.',
          as: 'lines',
          unit: 'percentunit',
          queries: [
            {
              promql: `sum by (gen_ai_request_model) (rate(${m.cachedTokens}${chosen}[$__rate_interval])) / sum by (gen_ai_request_model) (rate(${m.tokens}_sum{gen_ai_request_model=~"$model", gen_ai_token_type="input"}[$__rate_interval]))`,
              legend: '{{gen_ai_request_model}}',
            },
          ],
        },
        {
          title: 'Summaries of conversations',
          about: 'In the time shown. Failed ones leave the conversation as long as it was.',
          as: 'number',
          queries: [{ promql: `${increase('compactions', { where: chosen })} or vector(0)` }],
        },
        {
          title: 'Tokens of an answer',
          about: 'Median by model and kind.',
          as: 'lines',
          queries: [
            {
              promql: quantile(0.5, 'tokens', { by: [...model, 'gen_ai_token_type'], where: chosen }),
              legend: '{{gen_ai_request_model}} {{gen_ai_token_type}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Traces',
      panels: [
        {
          title: 'Requests that failed',
          about: 'The latest turns whose model could not be asked. A click leads to the page of the run.',
          as: 'table',
          queries: [
            {
              traceql:
                '{ span.gen_ai.operation.name = "chat" && status = error } | select(span.holdpoint.run.id, span.gen_ai.request.model, span.error.type)',
              of: 'spans',
            },
          ],
          links: [toRun],
        },
      ],
    },
  ],
};
