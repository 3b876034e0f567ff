import { z } from 'zod';

/** The used fields of GitHub's answers. Other fields may come and go. */
export const repositorySchema = z.object({
  full_name: z.string(),
  default_branch: z.string(),
  archived: z.boolean().optional(),
  permissions: z.object({ push: z.boolean() }).optional(),
});
export type Repository = z.infer<typeof repositorySchema>;

export const pullSchema = z.object({
  number: z.int().min(1),
  /** Shown to people as a link. */
  html_url: z.url({ protocol: /^https$/ }).max(2000),
  state: z.enum(['open', 'closed']),
  merged_at: z.string().nullish(),
  title: z.string(),
  body: z.string().nullable(),
  head: z.object({ ref: z.string(), sha: z.string(), repo: z.object({ full_name: z.string() }).nullable() }),
  base: z.object({ ref: z.string() }),
});
export type Pull = z.infer<typeof pullSchema>;
export const pullsSchema = z.array(pullSchema);

export const statusesSchema = z.object({
  statuses: z.array(z.object({ context: z.string(), state: z.string(), description: z.string().nullable() })),
});

export const anything = z.unknown();

/** A refusal in GitHub's words. */
export const refusalSchema = z.object({
  message: z.string(),
  errors: z
    .array(
      z.union([
        z.string(),
        z.object({ message: z.string().optional(), field: z.string().optional(), code: z.string().optional() }),
      ]),
    )
    .optional(),
});
