import * as meaning from '../meaning.ts';

export const runCreated: meaning.Meaning<'run.created'> = {
  changes(state, { time, data }, { run, spec, named }) {
    const { title, toolset, planner, model, labels, priority, dry_run, tenant, created_by, traceparent } = data;
    state.set(run.status, 'queued');
    state.set(spec, data.spec);
    state.set(run.header, { title, toolset, planner, model, labels, priority, dry_run });
    state.set(run.created_at, time);
    state.set(run.tenant, tenant);
    state.set(run.created_by, created_by);
    state.set(run.traceparent, traceparent);
    state.set(run.turn, data.forked_from?.turn ?? 0);
    state.set(run.turn_steps, []);
    state.set(run.open, 0);
    state.set(run.parked, 0);
    state.set(run.tools, data.tools);
    state.set(run.publication, 'none');
    state.set(run.parent, data.parent);
    if (data.forked_from === undefined) return;
    const { turn, names } = data.forked_from;
    state.set(run.budget_from, { turn, steps: 0, active_ms: 0, tokens: 0, cost_micros: 0, agents: 0 });
    state.set(run.forked_from, data.forked_from);
    for (const [name, id] of Object.entries(names)) state.set(named(name), id);
  },
  span(trace, { data }) {
    const { planner, toolset, model, traceparent, tenant, priority, dry_run, parent } = data;
    trace.traceId = meaning.traceIdOf(trace.runId, traceparent);
    trace.remoteParent = traceparent === undefined ? null : meaning.partsOfTraceparent(traceparent).spanId;
    Object.assign(trace, { planner, toolset, model, tenant: tenant ?? 'default' });
    trace.turn = data.forked_from?.turn ?? 0;
    if (data.forked_from !== undefined)
      trace.origin = { runId: data.forked_from.run_id, traceId: data.linked_trace_id };
    meaning.beginLife(trace, {
      attributes: {
        [meaning.attribute.tenant]: trace.tenant,
        [meaning.genAi.inputMessages]: meaning.messageOf(trace, 'user', meaning.promptOf(data.spec)),
        [meaning.attribute.priority]: priority ?? 'normal',
        [meaning.attribute.dryRun]: dry_run,
        [meaning.attribute.runDepth]: parent?.depth,
      },
      links: meaning.linksOf(data),
    });
  },
  audit: {
    learn(facts, { data: { tenant, created_by, toolset } }) {
      // Absent in the runs from before there were tenants.
      facts.tenant = typeof tenant === 'string' ? tenant : meaning.defaultTenant;
      facts.submittedBy = created_by;
      facts.toolset = toolset;
    },
    record: meaning.runRecord,
  },
};
