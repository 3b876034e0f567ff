import * as sdkTrace from '@opentelemetry/sdk-trace';
import type { TraceSettings } from '../settings/traces.ts';

/** By ratio a sampler looks at the trace id alone, so a trace is sampled as a whole, in every process. */
export function openSampler({ name, ratio }: TraceSettings['sampler']): sdkTrace.Sampler {
  switch (name) {
    case 'always_on':
      return new sdkTrace.AlwaysOnSampler();
    case 'always_off':
      return new sdkTrace.AlwaysOffSampler();
    case 'traceidratio':
      return new sdkTrace.TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new sdkTrace.ParentBasedSampler({ root: new sdkTrace.AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new sdkTrace.ParentBasedSampler({ root: new sdkTrace.AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new sdkTrace.ParentBasedSampler({ root: new sdkTrace.TraceIdRatioBasedSampler(ratio) });
    default:
      throw new Error(`no sampler ${name satisfies never}`);
  }
}
