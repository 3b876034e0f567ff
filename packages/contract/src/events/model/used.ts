import { event, modelUsageSchema, z } from '../event.ts';

export const modelUsed = event('model.used', {
  meaning:
    'A request to a model used tokens, and no turn or compaction has its answer: the stream was cut off, the run no longer needed it, or the summary failed.',
  data: {
    model: z.string().describe('The model that was asked, `provider/model`'),
    why: z
      .enum(['cut_off', 'superseded', 'summary_failed'])
      .describe('`superseded`: the run was paused, ended or steered while the model answered'),
    usage: modelUsageSchema,
    estimated: z
      .array(z.enum(['input', 'output']))
      .describe('The counts that the provider did not report: an estimate from the texts that were sent and received'),
  },
  line: ({ data: { model, why, usage, estimated } }) => {
    const about = estimated.length === 0 ? '' : 'about ';
    return `${model} used ${about}${usage.input_tokens + usage.output_tokens} tokens for ${lost[why]}`;
  },
});

const lost = {
  cut_off: 'an answer that was cut off',
  superseded: 'an answer that came too late',
  summary_failed: 'a summary that failed',
};
