import { approvalRequestSchema, approvalStatusSchema, decisionSchema, stepIdSchema } from '@holdpoint/contract';
import { z } from 'zod';
import { cellsById, json, optional, text } from './field.ts';

/** The fields of an approval, named `<approval id>:<field>`. */
export const approvalTable = {
  status: text(approvalStatusSchema, 'Status of the approval.'),
  request: json(
    approvalRequestSchema.extend({ step_id: stepIdSchema.optional(), requested_at: z.string() }),
    'What is asked. Without a step: about the publish of the run.',
  ),
  superseded: optional(text(z.string(), 'The approval that asks again because the files had changed.')),
  decision: optional(json(decisionSchema.extend({ decided_at: z.string() }), 'The decision of a person.')),
};

export const approvalField = cellsById(approvalTable);
