import type { Json, SettledCall } from '@holdpoint/contract';
import { asJson, presentPlainly, type Toolset } from '../toolset.ts';
import type { DefectLog } from './check-output.ts';
import { filledSettings } from './check-settings.ts';

/**
 * The contract's result of a settled call. A `present` with an error, or without JSON, is a defect of the toolset, noted in the log and in
 * the result. The call of a missing toolset has its plain result.
 */
export function presentCall(toolset: Toolset | undefined, call: SettledCall, log: DefectLog): Json {
  const { present = presentPlainly } = toolset ?? {};
  if (toolset === undefined || present === presentPlainly) return presentPlainly(call);
  try {
    // A copy: a toolset's changes to the call change no state of the engine.
    return asJson(present(structuredClone({ ...call, settings: filledSettings(toolset, call.settings) })));
  } catch (err) {
    log.error({ toolset: toolset.name, tool: call.tool, err }, 'a toolset could not present a result');
    return notPresented(toolset, call);
  }
}

const notPresented = ({ name }: Toolset, { tool, status }: SettledCall): Json => ({
  status,
  error: {
    code: 'EPRESENT',
    message: `The call of ${tool} is ${status}, and the toolset ${name} failed to make its result.`,
    next: 'This is a defect of the toolset. The log of the run has what the tool returned.',
  },
});
