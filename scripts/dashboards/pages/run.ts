import { type Page, toRun } from '../source.ts';

const ofRun = 'span.holdpoint.run.id = "$run"';
/** A line of a log names its run; lines from OTLP have the name in structured metadata. */
const logOfRun = '{service_name=~"holdpoint.*"} | run_id="$run"';

export const run: Page = {
  name: 'run',
  title: 'one run',
  about:
    'A run as a trace, with its log lines. Enter its id at the top, or come by a link from another page, a point of a histogram or a log line. `holdpoint trace RUN` shows the same in a terminal.',
  variables: [
    { name: 'run', label: 'Run', text: '' },
    { name: 'trace', label: 'Trace', text: '' },
  ],
  rows: [
    {
      title: 'Run $run',
      panels: [
        {
          title: 'Traces of the run',
          about: 'One trace, or with `trace=segment` one for each segment. A click shows it below.',
          as: 'table',
          queries: [
            {
              traceql: `{ ${ofRun} && name =~ "invoke_.*" } | select(span.holdpoint.run.id, span.holdpoint.run.outcome, span.holdpoint.steps, span.holdpoint.turns)`,
              of: 'spans',
            },
          ],
          links: [{ ...toRun, title: 'show this trace' }],
        },
        {
          title: 'Trace',
          about: 'All spans of the trace that is chosen at the top.',
          as: 'trace',
          queries: [{ traceId: '$trace' }],
        },
        {
          title: 'Steps',
          about: 'Tool calls of the run, with their outcome.',
          as: 'table',
          queries: [
            {
              traceql: `{ ${ofRun} && span.gen_ai.operation.name = "execute_tool" } | select(span.holdpoint.step.id, span.holdpoint.step.outcome, span.holdpoint.step.attempts, span.holdpoint.step.verdict)`,
              of: 'spans',
            },
          ],
        },
        {
          title: 'Model',
          about: 'Requests to the model, with tokens and cost (millionths of a US dollar).',
          as: 'table',
          queries: [
            {
              traceql: `{ ${ofRun} && span.gen_ai.operation.name = "chat" } | select(span.gen_ai.request.model, span.gen_ai.usage.input_tokens, span.gen_ai.usage.output_tokens, span.holdpoint.cost.micros)`,
              of: 'spans',
            },
          ],
        },
        {
          title: 'Waits',
          about: 'What the run waited for: a worker, a decision, a task, a message.',
          as: 'table',
          queries: [
            {
              traceql: `{ ${ofRun} && span.holdpoint.wait.for != nil } | select(span.holdpoint.wait.for, span.holdpoint.approval.id, span.holdpoint.approval.decision, span.holdpoint.approval.decided_by)`,
              of: 'spans',
            },
          ],
        },
        {
          title: 'Log',
          about: 'Lines of all processes about this run.',
          as: 'logs',
          queries: [{ logql: logOfRun }],
        },
      ],
    },
  ],
};
