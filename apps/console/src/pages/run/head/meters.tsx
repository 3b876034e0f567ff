import { spanText } from '../../../parts/span-text.ts';
import type { ShownRun } from '../shown-run.ts';

interface Measure {
  name: string;
  used: number;
  most?: number | undefined;
  text: (value: number) => string;
}

const count = (value: number): string => value.toLocaleString('en');
const money = (value: number): string => `$${value < 10 ? value.toFixed(value < 0.1 ? 4 : 2) : value.toFixed(0)}`;

/** What the run has used, against its limits. */
export function Meters({ run }: ShownRun) {
  const { usage, request } = run;
  const { limits } = request;
  const all: Measure[] = [
    { name: 'Steps', used: usage.steps, most: limits.max_steps, text: count },
    { name: 'Time', used: usage.active_ms, most: times(limits.wall_s, 1000), text: spanText },
  ];
  if (run.planner === 'model') {
    all.push(
      { name: 'Turns', used: run.turn, most: limits.max_turns, text: count },
      { name: 'Tokens', used: usage.input_tokens + usage.output_tokens, most: limits.max_tokens, text: count },
      { name: 'Cost', used: usage.cost_usd, most: limits.max_cost_usd, text: money },
    );
    if (run.context?.tokens != null && run.context.window !== null) {
      all.push({ name: 'Context', used: run.context.tokens, most: run.context.window, text: count });
    }
  }
  return (
    <dl className="meters">
      {all.map((measure) => (
        <Meter key={measure.name} {...measure} />
      ))}
    </dl>
  );
}

const times = (value: number | undefined, by: number): number | undefined =>
  value === undefined ? undefined : value * by;

function Meter({ name, used, most, text }: Measure) {
  const part = most === undefined ? undefined : Math.min(1, used / most);
  return (
    <div className="meter-box">
      <dt className="muted small">{name}</dt>
      <dd className="numbers">
        {text(used)}
        {most !== undefined && <span className="muted small"> of {text(most)}</span>}
        {part !== undefined && <meter aria-label={`${name}, of its limit`} min={0} max={1} high={0.85} value={part} />}
      </dd>
    </div>
  );
}
