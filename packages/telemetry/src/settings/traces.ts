/** Whether and how a process exports traces. Exporters read their endpoint, headers and certificates from OTEL_* by themselves. */
export interface TraceSettings {
  /** `segment`: a run becomes several traces, a trace for each of its segments. */
  per: 'run' | 'segment';
  /** Spans of runs have the beginnings of prompts, arguments and results, redacted. */
  content: boolean;
  /** The spans of BullMQ. */
  queues: boolean;
  exporters: ('otlp' | 'console')[];
  protocol: 'grpc' | 'http/json' | 'http/protobuf';
  sampler: { name: SamplerName; ratio: number };
  queue: { size: number; batch: number; delayMs: number };
  /** Milliseconds permitted to a request to the receiver. */
  timeoutMs: number;
}

type SamplerName = (typeof samplers)[number];

type Environment = Readonly<Record<string, string | undefined>>;

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
const protocols = ['grpc', 'http/json', 'http/protobuf'] as const;

/** @returns undefined: traces are off. @throws Error naming the variable */
export function traceSettingsFrom(env: Environment): TraceSettings | undefined {
  const per = oneOf(env, 'HOLDPOINT_TRACE', ['run', 'segment']) ?? 'run';
  const queues = oneOf(env, 'HOLDPOINT_TRACE_QUEUES', ['on', 'off']) === 'on';
  const content = oneOf(env, 'HOLDPOINT_TRACE_CONTENT', ['on', 'off']) === 'on';
  const exporters = exportersFrom(env);
  if (exporters.length === 0) return undefined;
  const size = positive(env, 'OTEL_BSP_MAX_QUEUE_SIZE') ?? 2048;
  return {
    ...{ per, content, queues, exporters },
    protocol:
      oneOf(env, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', protocols) ??
      oneOf(env, 'OTEL_EXPORTER_OTLP_PROTOCOL', protocols) ??
      'http/protobuf',
    sampler: {
      name: oneOf(env, 'OTEL_TRACES_SAMPLER', samplers) ?? 'parentbased_always_on',
      ratio: ratioFrom(env),
    },
    queue: {
      size,
      batch: Math.min(size, positive(env, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE') ?? 512),
      delayMs: positive(env, 'OTEL_BSP_SCHEDULE_DELAY') ?? 5000,
    },
    timeoutMs:
      positive(env, 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT') ?? positive(env, 'OTEL_EXPORTER_OTLP_TIMEOUT') ?? 10_000,
  };
}

/** OTEL_TRACES_EXPORTER names exporters; without the variable an endpoint turns OTLP on. */
function exportersFrom(env: Environment): TraceSettings['exporters'] {
  if (env.OTEL_SDK_DISABLED === 'true') return [];
  const name = 'OTEL_TRACES_EXPORTER';
  const names = listOf(env[name]);
  for (const one of names) {
    if (!['otlp', 'console', 'none'].includes(one)) throw unexpected(name, ['otlp', 'console', 'none'], one);
  }
  if (names.includes('none')) return [];
  if (names.length > 0) return (['otlp', 'console'] as const).filter((one) => names.includes(one));
  const endpoints = [env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, env.OTEL_EXPORTER_OTLP_ENDPOINT];
  return endpoints.some((endpoint) => (endpoint ?? '') !== '') ? ['otlp'] : [];
}

const listOf = (text = ''): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

function ratioFrom(env: Environment): number {
  const text = (env.OTEL_TRACES_SAMPLER_ARG ?? '').trim();
  if (text === '') return 1;
  const ratio = Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw new Error(`OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1, not ${JSON.stringify(text)}`);
}

function oneOf<Value extends string>(env: Environment, name: string, values: readonly Value[]): Value | undefined {
  const text = (env[name] ?? '').trim();
  if (text === '') return undefined;
  const found = values.find((value) => value === text);
  if (found === undefined) throw unexpected(name, values, text);
  return found;
}

const unexpected = (name: string, values: readonly string[], text: string): Error =>
  new Error(`${name}: expected one of ${values.join(', ')}, not ${JSON.stringify(text)}`);

function positive(env: Environment, name: string): number | undefined {
  const text = (env[name] ?? '').trim();
  if (text === '') return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`${name}: expected a whole number above 0, not ${JSON.stringify(text)}`);
}
