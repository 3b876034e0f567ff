import {
  approvalField,
  approvalsField,
  callsKeyField,
  forkField,
  heads,
  messageField,
  namedField,
  receivedField,
  reservedField,
  rewindsField,
  ruleField,
  runField,
  specField,
  stepField,
  taskField,
  tasksField,
  toolIndex,
} from './model.ts';

/** The cells of the state for the files of events: these import no field themselves, because a field imports its schema. */
export const stateFields = {
  ...{ run: runField, step: stepField, task: taskField, approval: approvalField, rule: ruleField, spec: specField },
  ...{ named: namedField, fork: forkField, message: messageField, received: receivedField, callsKey: callsKeyField },
  ...{ approvals: approvalsField, tasks: tasksField, reserved: reservedField, rewinds: rewindsField, toolIndex, heads },
};
export type StateFields = typeof stateFields;
