import * as model from './model.ts';

/** The cells of the state for the files of events: these import no field themselves, because a field imports its schema. */
export const stateFields = {
  ...{
    run: model.runField,
    step: model.stepField,
    task: model.taskField,
    approval: model.approvalField,
    rule: model.ruleField,
    spec: model.specField,
  },
  ...{
    named: model.namedField,
    fork: model.forkField,
    message: model.messageField,
    received: model.receivedField,
    callsKey: model.callsKeyField,
  },
  ...{
    approvals: model.approvalsField,
    tasks: model.tasksField,
    reserved: model.reservedField,
    rewinds: model.rewindsField,
    toolIndex: model.toolIndex,
    heads: model.heads,
  },
};
export type StateFields = typeof stateFields;
