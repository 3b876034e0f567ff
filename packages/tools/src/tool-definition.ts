import type { Effect, Risk } from '@holdpoint/contract';
import type { JsonSchema } from './json-schema.ts';

/** A tool as models, clients and people see it. */
export interface ToolDefinition {
  name: string;
  description: string;
  /** `by run`: the effect depends on the call's arguments or on the hosts that its run may reach. */
  effect: Effect | 'by run';
  risk: Risk;
  gate?: 'input';
  /** The contract's own word for the risk. */
  label: string;
  /** Semantic version of its interface. */
  version?: string;
  /** Whether a person has to be asked before a call: `look`: that depends on the call and on the workspace. */
  asks: 'no' | 'yes' | 'look';
  input_schema: JsonSchema;
  output_schema?: JsonSchema;
}
