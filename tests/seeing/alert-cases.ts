/** Samples at intervals of a minute, in promtool's notation: `0+60x10`, `1 1 0`, `_x5`. */
type Series = Record<string, string>;

interface AlertCase {
  alert: string;
  /** The alert fires with these. */
  fault: Series;
  /** The alert is silent with these series: the nearest case without a fault. */
  healthy: Series;
  /** @default 20m */
  at?: string;
  /** The labels in addition to `severity`. */
  labels?: Record<string, string>;
  /** The summary, with its values. */
  says: string;
}

const requests = 'gen_ai_client_operation_duration_seconds_count';
const api = 'job="holdpoint-api", instance="api:4747"';
const worker = 'job="holdpoint-worker", instance="worker:9464"';
const conflicts = 'holdpoint_approval_decision_duration_seconds_count{kind="conflict", decision="approve"}';
const publishes = 'holdpoint_publish_duration_seconds_count';
const published = 'http_server_request_duration_seconds_count';

/** Every alert, with a planted fault and its nearest healthy state. */
export const alertCases: readonly AlertCase[] = [
  {
    alert: 'HoldpointApiDown',
    fault: { [`up{${api}}`]: '1x5 0x30' },
    healthy: { [`up{${api}}`]: '1x10 0 1x30' },
    labels: { job: 'holdpoint-api', instance: 'api:4747' },
    says: 'The API does not answer Prometheus',
  },
  {
    alert: 'HoldpointApiDown',
    fault: { 'up{job="prometheus"}': '1x40' },
    healthy: { [`up{${api}}`]: '1x40' },
    labels: { job: 'holdpoint-api' },
    says: 'The API does not answer Prometheus',
  },
  {
    alert: 'HoldpointWorkerDown',
    fault: { [`up{${worker}}`]: '1x5 0x30' },
    healthy: { [`up{${worker}}`]: '1x19 0 1x30' },
    labels: { job: 'holdpoint-worker', instance: 'worker:9464' },
    says: 'The worker worker:9464 does not answer Prometheus',
  },
  {
    alert: 'HoldpointNoWorker',
    fault: { [`holdpoint_workers{${api}}`]: '1x5 0x30' },
    healthy: { [`holdpoint_workers{${api}}`]: '1x40' },
    says: 'No worker is alive, so runs wait',
  },
  {
    alert: 'HoldpointWorkerHeld',
    fault: { [`holdpoint_worker_held{${worker}, reason="space"}`]: '1x40' },
    healthy: { [`holdpoint_worker_held{${worker}, reason="space"}`]: '0x18 1 0x20' },
    labels: { instance: 'worker:9464', reason: 'space' },
    says: 'The worker worker:9464 takes no jobs: space',
  },
  {
    alert: 'HoldpointRestarts',
    fault: { [`process_uptime_seconds{${worker}}`]: '60 120 30 90 20 80 10+60x30' },
    healthy: { [`process_uptime_seconds{${worker}}`]: '60 120 30 90 20+60x40' },
    labels: { job: 'holdpoint-worker', instance: 'worker:9464' },
    says: 'holdpoint-worker worker:9464 started 3 times in the last hour',
  },
  {
    alert: 'HoldpointLoopBlocked',
    fault: { [`holdpoint_event_loop_delay_seconds{${worker}, kind="late"}`]: '1.5x40' },
    healthy: { [`holdpoint_event_loop_delay_seconds{${worker}, kind="late"}`]: '0.9x40' },
    labels: { job: 'holdpoint-worker', instance: 'worker:9464' },
    says: 'The event loop of holdpoint-worker worker:9464 was blocked for 1.5s',
  },
  {
    alert: 'HoldpointSandboxGap',
    fault: { [`holdpoint_sandbox_isolated{${worker}}`]: '0x40' },
    healthy: { [`holdpoint_sandbox_isolated{${worker}}`]: '1x40' },
    labels: { instance: 'worker:9464' },
    says: 'The sandbox of the worker worker:9464 has a gap',
  },
  {
    alert: 'HoldpointApiErrors',
    fault: {
      [`${published}{${api}, http_response_status_code="200"}`]: '0+90x40',
      [`${published}{${api}, http_response_status_code="503"}`]: '0+10x40',
    },
    healthy: {
      [`${published}{${api}, http_response_status_code="200"}`]: '0+90x40',
      [`${published}{${api}, http_response_status_code="409"}`]: '0+10x40',
      [`${published}{${api}, http_response_status_code="503"}`]: '0+1x40',
    },
    says: '10% of the requests to the API fail',
  },
  {
    alert: 'HoldpointQueueWaitHigh',
    fault: {
      'holdpoint_step_queue_duration_seconds_bucket{le="60"}': '0x40',
      'holdpoint_step_queue_duration_seconds_bucket{le="300"}': '0+10x40',
      'holdpoint_step_queue_duration_seconds_bucket{le="+Inf"}': '0+10x40',
    },
    healthy: {
      'holdpoint_step_queue_duration_seconds_bucket{le="60"}': '0+10x40',
      'holdpoint_step_queue_duration_seconds_bucket{le="300"}': '0+10x40',
      'holdpoint_step_queue_duration_seconds_bucket{le="+Inf"}': '0+10x40',
    },
    says: 'Steps wait 4m 48s for a worker',
  },
  {
    alert: 'HoldpointQueueStands',
    fault: {
      [`holdpoint_queue_jobs{${api}, queue="steps", state="backlog"}`]: '7x40',
      [`holdpoint_queue_jobs{${api}, queue="steps", state="active"}`]: '0x40',
    },
    healthy: {
      [`holdpoint_queue_jobs{${api}, queue="steps", state="backlog"}`]: '7x40',
      [`holdpoint_queue_jobs{${api}, queue="steps", state="active"}`]: '1x40',
      [`holdpoint_queue_jobs{${api}, queue="turns", state="backlog"}`]: '0x40',
      [`holdpoint_queue_jobs{${api}, queue="turns", state="active"}`]: '0x40',
    },
    labels: { queue: 'steps' },
    says: '7 jobs wait in the queue steps, and no worker takes them',
  },
  {
    alert: 'HoldpointRunsStuck',
    fault: {
      [`holdpoint_runs{${api}, state="running"}`]: '2x40',
      [`holdpoint_runs{${api}, state="waiting", reason="approval"}`]: '5x40',
      [`holdpoint_queue_jobs{${api}, queue="steps", state="active"}`]: '0x40',
    },
    healthy: {
      [`holdpoint_runs{${api}, state="waiting", reason="approval"}`]: '5x40',
      [`holdpoint_runs{${api}, state="running"}`]: '0x40',
      [`holdpoint_queue_jobs{${api}, queue="steps", state="active"}`]: '0x40',
    },
    says: '2 runs should work, and no job exists for them',
  },
  {
    alert: 'HoldpointRepairs',
    fault: {
      [`holdpoint_repairs_total{${worker}, class="queued_without_job"}`]: '0x12 1x30',
      [`process_uptime_seconds{${worker}}`]: '90000+60x40',
      [`up{${worker}}`]: '1x40',
    },
    healthy: {
      [`holdpoint_repairs_total{${worker}, class="queued_without_job"}`]: '0x12 1x30',
      [`process_uptime_seconds{${worker}}`]: '90000x10 0+60x30',
      [`up{${worker}}`]: '1x40',
    },
    labels: { class: 'queued_without_job' },
    says: 'Stuck runs were repaired (queued_without_job), and no process had died',
  },
  {
    alert: 'HoldpointRepairs',
    fault: {
      [`holdpoint_repairs_total{${worker}, class="overslept"}`]: '_x12 1x30',
      [`process_uptime_seconds{${worker}}`]: '90000+60x40',
    },
    healthy: {
      [`holdpoint_repairs_total{${worker}, class="overslept"}`]: '_x12 1x30',
      [`process_uptime_seconds{${worker}}`]: '90000+60x40',
      [`up{${worker}}`]: '0x40',
    },
    labels: { class: 'overslept' },
    says: 'Stuck runs were repaired (overslept), and no process had died',
  },
  {
    alert: 'HoldpointStalledJobs',
    fault: { [`holdpoint_jobs_stalled_total{${worker}, queue="steps"}`]: '0+1x40' },
    healthy: { [`holdpoint_jobs_stalled_total{${worker}, queue="steps"}`]: '0x10 1x30' },
    labels: { queue: 'steps' },
    says: 'Workers fell silent during 15 jobs of the queue steps',
  },
  {
    alert: 'HoldpointStuckHandlers',
    fault: { [`holdpoint_handlers_stuck_total{${worker}, queue="turns"}`]: '0+1x40' },
    healthy: { [`holdpoint_handlers_stuck_total{${worker}, queue="turns"}`]: '1x40' },
    labels: { queue: 'turns', instance: 'worker:9464' },
    says: 'Jobs of the queue turns on worker:9464 did not end when they were aborted',
  },
  {
    alert: 'HoldpointSweepOverdue',
    fault: { [`holdpoint_periodic_age_seconds{${api}, work="sweep"}`]: '0+60x40' },
    healthy: { [`holdpoint_periodic_age_seconds{${api}, work="sweep"}`]: '55x40' },
    says: 'The sweep last ran 20m 0s ago',
  },
  {
    alert: 'HoldpointMaintenanceOverdue',
    fault: { [`holdpoint_periodic_age_seconds{${api}, work="maintenance"}`]: '50400x40' },
    healthy: { [`holdpoint_periodic_age_seconds{${api}, work="maintenance"}`]: '21600x40' },
    says: 'Maintenance last ran 14h 0m 0s ago',
  },
  {
    alert: 'HoldpointRunsFail',
    fault: {
      'holdpoint_runs_ended_total{outcome="failed", reason="EMODELAUTH", planner="model"}': '0+3x40',
      'holdpoint_runs_ended_total{outcome="succeeded", planner="model"}': '0+1x40',
    },
    healthy: {
      'holdpoint_runs_ended_total{outcome="failed", reason="EMODELAUTH", planner="model"}': '0x15 1x20',
      'holdpoint_runs_ended_total{outcome="succeeded", planner="model"}': '0x40',
    },
    says: '75% of the runs that ended have failed',
  },
  {
    alert: 'HoldpointPublishConflicts',
    fault: { [conflicts]: '0+1x40', [`${publishes}{outcome="published"}`]: '0+2x40' },
    healthy: { [conflicts]: '0x10 1x30', [`${publishes}{outcome="published"}`]: '0+2x40' },
    says: '50% of the publishes had conflicts',
  },
  {
    alert: 'HoldpointApprovalOld',
    fault: { [`holdpoint_approvals_oldest_age_seconds{${api}}`]: '18000x40' },
    healthy: { [`holdpoint_approvals_oldest_age_seconds{${api}}`]: '14000x40' },
    says: 'An approval has waited for 5h 0m 0s',
  },
  {
    alert: 'HoldpointRunPaused',
    fault: { [`holdpoint_runs_paused_oldest_age_seconds{${api}}`]: '18000x40' },
    healthy: { [`holdpoint_runs_paused_oldest_age_seconds{${api}}`]: '14000x40' },
    says: 'A paused run has stood for 5h 0m 0s',
  },
  {
    alert: 'HoldpointApprovalExpiring',
    fault: { [`holdpoint_approvals_expiry_seconds{${api}}`]: '2400-60x40' },
    healthy: { [`holdpoint_approvals_expiry_seconds{${api}}`]: '86400-60x40' },
    says: 'An approval expires in 20m 0s',
  },
  {
    alert: 'HoldpointModelErrors',
    fault: {
      [`${requests}{gen_ai_request_model="m"}`]: '0+3x40',
      [`${requests}{gen_ai_request_model="m", error_type="EMODELUNAVAILABLE"}`]: '0+1x40',
    },
    healthy: {
      [`${requests}{gen_ai_request_model="m"}`]: '0+3x40',
      [`${requests}{gen_ai_request_model="m", error_type="EMODELRATELIMIT"}`]: '0+1x40',
      [`${requests}{gen_ai_request_model="m", error_type="canceled"}`]: '0+1x40',
    },
    labels: { gen_ai_request_model: 'm' },
    says: '25% of the requests to m fail',
  },
  {
    alert: 'HoldpointModelThrottled',
    fault: {
      [`${requests}{gen_ai_request_model="m"}`]: '0+1x40',
      [`${requests}{gen_ai_request_model="m", error_type="EMODELRATELIMIT"}`]: '0+1x40',
    },
    healthy: {
      [`${requests}{gen_ai_request_model="m"}`]: '0+9x40',
      [`${requests}{gen_ai_request_model="m", error_type="EMODELRATELIMIT"}`]: '0+1x40',
    },
    labels: { gen_ai_request_model: 'm' },
    says: 'The provider of m refuses 50% of the requests for now',
  },
  {
    alert: 'HoldpointModelRefused',
    fault: { [`${requests}{gen_ai_request_model="m", error_type="EMODELAUTH"}`]: '_x15 1x30' },
    healthy: { [`${requests}{gen_ai_request_model="m", error_type="EMODELUNAVAILABLE"}`]: '_x15 1x30' },
    labels: { gen_ai_request_model: 'm', error_type: 'EMODELAUTH' },
    says: 'm cannot be asked: EMODELAUTH',
  },
  {
    alert: 'HoldpointModelRefused',
    fault: { [`${requests}{gen_ai_request_model="m", error_type="EMODELQUOTA"}`]: '4x55 5x20' },
    healthy: { [`${requests}{gen_ai_request_model="m", error_type="EMODELQUOTA"}`]: '4x80' },
    at: '60m',
    labels: { gen_ai_request_model: 'm', error_type: 'EMODELQUOTA' },
    says: 'm cannot be asked: EMODELQUOTA',
  },
  {
    alert: 'HoldpointCostHigh',
    fault: { 'holdpoint_model_cost_usd_total{gen_ai_request_model="m"}': '0+1x80' },
    healthy: { 'holdpoint_model_cost_usd_total{gen_ai_request_model="m"}': '0+0.3x80' },
    at: '70m',
    says: 'The models cost 60 US dollars in the last hour',
  },
  {
    alert: 'HoldpointRedisDown',
    fault: { [`holdpoint_redis_up{${api}}`]: '0x40' },
    healthy: { [`holdpoint_redis_up{${api}}`]: '1x19 0 1x20' },
    says: 'Redis does not answer',
  },
  {
    alert: 'HoldpointRedisRefusesWrites',
    fault: { [`holdpoint_redis_writable{${api}}`]: '0x40' },
    healthy: { [`holdpoint_redis_writable{${api}}`]: '1x40' },
    says: 'Redis takes no writes',
  },
  {
    alert: 'HoldpointRedisMemoryHigh',
    fault: {
      [`holdpoint_redis_memory_used_bytes{${api}}`]: '90x40',
      [`holdpoint_redis_memory_limit_bytes{${api}}`]: '100x40',
    },
    healthy: {
      [`holdpoint_redis_memory_used_bytes{${api}}`]: '80x40',
      [`holdpoint_redis_memory_limit_bytes{${api}}`]: '100x40',
    },
    says: 'Redis uses 90% of its memory',
  },
  {
    alert: 'HoldpointAofFailing',
    fault: {
      [`holdpoint_redis_aof_ok{${api}, operation="write"}`]: '0x40',
      [`holdpoint_redis_aof_ok{${api}, operation="rewrite"}`]: '1x40',
      [`holdpoint_redis_aof_enabled{${api}}`]: '1x40',
    },
    healthy: {
      [`holdpoint_redis_aof_ok{${api}, operation="write"}`]: '1x40',
      [`holdpoint_redis_aof_ok{${api}, operation="rewrite"}`]: '1x40',
      [`holdpoint_redis_aof_enabled{${api}}`]: '1x40',
    },
    says: 'The append-only file of Redis is not written',
  },
  {
    alert: 'HoldpointAofLate',
    fault: { [`holdpoint_redis_aof_delayed_fsyncs_total{${api}}`]: '0+2x40' },
    healthy: { [`holdpoint_redis_aof_delayed_fsyncs_total{${api}}`]: '0x15 5x30' },
    says: '20 writes of Redis waited for the disk in ten minutes',
  },
  {
    alert: 'HoldpointDiskNearlyFull',
    fault: {
      [`holdpoint_disk_free_bytes{${api}}`]: '300x60',
      [`holdpoint_disk_floor_bytes{${api}}`]: '100x60',
    },
    healthy: {
      [`holdpoint_disk_free_bytes{${api}}`]: '500x60',
      [`holdpoint_disk_floor_bytes{${api}}`]: '100x60',
    },
    says: 'The disk of the data directory is nearly full, or will be within a day',
  },
  {
    alert: 'HoldpointDiskNearlyFull',
    fault: {
      [`holdpoint_disk_free_bytes{${api}}`]: '10000-6x400',
      [`holdpoint_disk_floor_bytes{${api}}`]: '100x400',
    },
    healthy: {
      [`holdpoint_disk_free_bytes{${api}}`]: '10000-1x400',
      [`holdpoint_disk_floor_bytes{${api}}`]: '100x400',
    },
    at: '380m',
    says: 'The disk of the data directory is nearly full, or will be within a day',
  },
  {
    alert: 'HoldpointDiskFull',
    fault: {
      [`holdpoint_disk_free_bytes{${api}}`]: '99x40',
      [`holdpoint_disk_floor_bytes{${api}}`]: '100x40',
    },
    healthy: {
      [`holdpoint_disk_free_bytes{${api}}`]: '101x40',
      [`holdpoint_disk_floor_bytes{${api}}`]: '100x40',
    },
    says: 'The disk of the data directory has no space, so no run is accepted',
  },
  {
    alert: 'HoldpointAuditLate',
    fault: { [`holdpoint_audit_lag_seconds{${api}}`]: '0+60x40' },
    healthy: { [`holdpoint_audit_lag_seconds{${api}}`]: '30x40' },
    says: 'The audit log is 20m 0s behind',
  },
  {
    alert: 'HoldpointAuditLoss',
    fault: { [`holdpoint_audit_losses_total{${worker}}`]: '_x10 1x30' },
    healthy: { [`holdpoint_audit_losses_total{${worker}}`]: '0x40' },
    says: 'Redis went back to an earlier time: the audit log records lost events',
  },
  {
    alert: 'HoldpointTelemetryDropped',
    fault: { [`holdpoint_telemetry_dropped_total{${worker}, signal="spans", reason="queue_full"}`]: '0x10 5x30' },
    healthy: { [`holdpoint_telemetry_dropped_total{${worker}, signal="spans", reason="queue_full"}`]: '5x40' },
    labels: { job: 'holdpoint-worker', signal: 'spans', reason: 'queue_full' },
    says: 'holdpoint-worker lost spans (queue_full)',
  },
  {
    alert: 'HoldpointTelemetryDropped',
    fault: { [`holdpoint_telemetry_dropped_total{${worker}, signal="logs", reason="not_sent"}`]: '_x10 1x30' },
    healthy: { [`holdpoint_telemetry_dropped_total{${worker}, signal="logs", reason="not_sent"}`]: '_x10 0x30' },
    labels: { job: 'holdpoint-worker', signal: 'logs', reason: 'not_sent' },
    says: 'holdpoint-worker lost logs (not_sent)',
  },
  {
    alert: 'HoldpointNoFollower',
    fault: { [`holdpoint_follower_active{${worker}}`]: '0x40' },
    healthy: {
      [`holdpoint_follower_active{${worker}}`]: '0x40',
      'holdpoint_follower_active{job="holdpoint-worker", instance="other:9464"}': '1x40',
    },
    says: 'No worker follows the logs: traces and the metrics of runs stand still',
  },
];
