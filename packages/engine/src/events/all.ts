export { approvalCanceled as 'approval.canceled' } from './approval/canceled.ts';
export { approvalDecided as 'approval.decided' } from './approval/decided.ts';
export { approvalDelegated as 'approval.delegated' } from './approval/delegated.ts';
export { approvalEscalated as 'approval.escalated' } from './approval/escalated.ts';
export { approvalExpired as 'approval.expired' } from './approval/expired.ts';
export { approvalPreviewFailed as 'approval.preview_failed' } from './approval/preview-failed.ts';
export { approvalPreviewRequested as 'approval.preview_requested' } from './approval/preview-requested.ts';
export { approvalReminded as 'approval.reminded' } from './approval/reminded.ts';
export { approvalRequested as 'approval.requested' } from './approval/requested.ts';
export { approvalVoted as 'approval.voted' } from './approval/voted.ts';
export { callsReceived as 'calls.received' } from './calls/received.ts';
export { contextCompacted as 'context.compacted' } from './context/compacted.ts';
export { contextInstructed as 'context.instructed' } from './context/instructed.ts';
export { contextNotified as 'context.notified' } from './context/notified.ts';
export { graphProgress as 'graph.progress' } from './graph/progress.ts';
export { messageReceived as 'message.received' } from './message/received.ts';
export { modelRetrying as 'model.retrying' } from './model/retrying.ts';
export { modelUsed as 'model.used' } from './model/used.ts';
export { networkConnected as 'network.connected' } from './network/connected.ts';
export { networkCounted as 'network.counted' } from './network/counted.ts';
export { ruleRemembered as 'rule.remembered' } from './rule/remembered.ts';
export { ruleRevoked as 'rule.revoked' } from './rule/revoked.ts';
export { runCanceled as 'run.canceled' } from './run/canceled.ts';
export { runCanceling as 'run.canceling' } from './run/canceling.ts';
export { runClosing as 'run.closing' } from './run/closing.ts';
export { runCreated as 'run.created' } from './run/created.ts';
export { runExtended as 'run.extended' } from './run/extended.ts';
export { runFailed as 'run.failed' } from './run/failed.ts';
export { runForked as 'run.forked' } from './run/forked.ts';
export { runPaused as 'run.paused' } from './run/paused.ts';
export { runPlanApproved as 'run.plan_approved' } from './run/plan-approved.ts';
export { runRepaired as 'run.repaired' } from './run/repaired.ts';
export { runResumed as 'run.resumed' } from './run/resumed.ts';
export { runRewound as 'run.rewound' } from './run/rewound.ts';
export { runStarted as 'run.started' } from './run/started.ts';
export { runSucceeded as 'run.succeeded' } from './run/succeeded.ts';
export { runWaiting as 'run.waiting' } from './run/waiting.ts';
export { stepAsked as 'step.asked' } from './step/asked.ts';
export { stepCancelRequested as 'step.cancel_requested' } from './step/cancel-requested.ts';
export { stepCreated as 'step.created' } from './step/created.ts';
export { stepDeferred as 'step.deferred' } from './step/deferred.ts';
export { stepHeld as 'step.held' } from './step/held.ts';
export { stepIndeterminate as 'step.indeterminate' } from './step/indeterminate.ts';
export { stepModelUsed as 'step.model_used' } from './step/model-used.ts';
export { stepQueued as 'step.queued' } from './step/queued.ts';
export { stepRetried as 'step.retried' } from './step/retried.ts';
export {
  stepCanceled as 'step.canceled',
  stepExpired as 'step.expired',
  stepFailed as 'step.failed',
  stepKilled as 'step.killed',
  stepRejected as 'step.rejected',
  stepSucceeded as 'step.succeeded',
  stepTimedOut as 'step.timed_out',
} from './step/settled.ts';
export { stepStarted as 'step.started' } from './step/started.ts';
export { taskCreated as 'task.created' } from './task/created.ts';
export { taskEnded as 'task.ended' } from './task/ended.ts';
export { taskExited as 'task.exited' } from './task/exited.ts';
export { taskInputSent as 'task.input_sent' } from './task/input-sent.ts';
export { taskKillRequested as 'task.kill_requested' } from './task/kill-requested.ts';
export { taskReserved as 'task.reserved' } from './task/reserved.ts';
export { taskResumed as 'task.resumed' } from './task/resumed.ts';
export { taskStarted as 'task.started' } from './task/started.ts';
export { taskUsed as 'task.used' } from './task/used.ts';
export { taskWaiting as 'task.waiting' } from './task/waiting.ts';
export { turnPlanned as 'turn.planned' } from './turn/planned.ts';
export { workspaceCaptured as 'workspace.captured' } from './workspace/captured.ts';
export { workspaceConflicted as 'workspace.conflicted' } from './workspace/conflicted.ts';
export { workspaceDiscardRequested as 'workspace.discard_requested' } from './workspace/discard-requested.ts';
export { workspaceDiscarded as 'workspace.discarded' } from './workspace/discarded.ts';
export { workspaceDistrusted as 'workspace.distrusted' } from './workspace/distrusted.ts';
export { workspaceDrifted as 'workspace.drifted' } from './workspace/drifted.ts';
export { workspaceHeld as 'workspace.held' } from './workspace/held.ts';
export { workspaceLeased as 'workspace.leased' } from './workspace/leased.ts';
export { workspaceMaterialised as 'workspace.materialised' } from './workspace/materialised.ts';
export { workspacePrepareFailed as 'workspace.prepare_failed' } from './workspace/prepare-failed.ts';
export { workspacePrepared as 'workspace.prepared' } from './workspace/prepared.ts';
export { workspacePreparing as 'workspace.preparing' } from './workspace/preparing.ts';
export { workspaceProgress as 'workspace.progress' } from './workspace/progress.ts';
export { workspacePublishFailed as 'workspace.publish_failed' } from './workspace/publish-failed.ts';
export { workspacePublishRejected as 'workspace.publish_rejected' } from './workspace/publish-rejected.ts';
export { workspacePublishReleased as 'workspace.publish_released' } from './workspace/publish-released.ts';
export { workspacePublishRequested as 'workspace.publish_requested' } from './workspace/publish-requested.ts';
export { workspacePublished as 'workspace.published' } from './workspace/published.ts';
export { workspaceRestored as 'workspace.restored' } from './workspace/restored.ts';
export { workspaceSnapshotted as 'workspace.snapshotted' } from './workspace/snapshotted.ts';
export { workspaceValidated as 'workspace.validated' } from './workspace/validated.ts';
export { workspaceValidating as 'workspace.validating' } from './workspace/validating.ts';
