import * as contract from '@holdpoint/contract';
import { z } from 'zod';
import { cellsById, json, optional, optionalInteger, text } from './field.ts';

/** The fields of a task, named `<task id>:<field>`. */
export const taskTable = {
  status: text(contract.taskStatusSchema, 'Status of the task.'),
  about: json(contract.taskAboutSchema, 'What is known from its beginning.'),
  kill: optional(text(z.string(), 'Who asked to kill it.')),
  input: optional(json(contract.lastInputSchema, 'The last text sent to its standard input.')),
  worker: optional(text(z.string(), 'The worker that runs it.')),
  epoch: optionalInteger('Epoch of the tree that a command runs on.'),
  report: optional(json(contract.agentReportSchema, 'The last report of a sub-agent.')),
  outcome: optional(
    json(contract.taskOutcomeSchema.extend({ status: contract.taskStatusSchema }), 'How the task ended.'),
  ),
  created_at: text(z.string(), 'Time of task.created.'),
  started_at: optional(text(z.string(), 'Time of task.started.')),
  ended_at: optional(text(z.string(), 'Time of task.ended.')),
};

export const taskField = cellsById(taskTable);
