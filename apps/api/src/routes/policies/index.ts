import { readYaml } from '@holdpoint/policy';
import type { App } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { changePolicyRoutes } from './change-policies.ts';
import { readPoliciesRoutes } from './read-policies.ts';
import { testPolicyRoutes } from './test-policies.ts';
import { checkPolicyRoute, policyBodyCompiler, replayPoliciesRoutes } from './try-policies.ts';

/** Policies are written as YAML or JSON. In a scope of their own: no other route takes YAML. */
export function policiesRoutes(app: App): void {
  // Its body has a text, not a document.
  checkPolicyRoute(app);
  app.register(async (scope: App) => {
    takeYaml(scope);
    scope.setValidatorCompiler(policyBodyCompiler);
    readPoliciesRoutes(scope);
    changePolicyRoutes(scope);
    testPolicyRoutes(scope);
    replayPoliciesRoutes(scope);
  });
}

function takeYaml(app: App): void {
  const types = ['application/yaml', 'application/x-yaml', 'text/yaml'];
  app.addContentTypeParser<string>(types, { parseAs: 'string' }, (_request, text, done) => {
    const read = readYaml(text);
    if (read.ok) done(null, read.value);
    else done(new ApiProblem('invalid_policy', read.detail, { errors: [{ pointer: '', detail: read.detail }] }));
  });
}
