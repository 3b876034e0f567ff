import * as contract from '@holdpoint/contract';
import { z } from 'zod';

const time = z.iso.datetime({ offset: true });

/** An evaluation as stored. Not strict: a later version may store more. */
export const evalStateSchema = z.object({
  id: contract.evalIdSchema,
  tenant: z.string(),
  name: contract.evalNameSchema,
  models: z.array(z.string()),
  budget: contract.evalBudgetSchema,
  /** Repeats at once. */
  parallel: z.int(),
  /** In place of those of the runs. */
  validators: contract.validatorsSchema.optional(),
  created_at: time,
  created_by: z.string(),
  /** The key that submits the repeats. */
  key_id: z.string(),
  /** Set when a caller canceled it. */
  canceled_by: z.string().optional(),
  ended_at: time.optional(),
  originals: z.array(contract.evalOriginalSchema),
  repeats: z.array(
    contract.evalRepeatSchema.extend({
      /** What the repeat may use of the budget; set with its id. */
      allowed: contract.evalBudgetSchema.optional(),
    }),
  ),
});
export type EvalState = z.output<typeof evalStateSchema>;
export type Repeat = EvalState['repeats'][number];

/** Names an evaluation of an installation. Neither part has a slash. */
export const idOf = ({ tenant, id }: Pick<EvalState, 'tenant' | 'id'>): string => `${tenant}/${id}`;
