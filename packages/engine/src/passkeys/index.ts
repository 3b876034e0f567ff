export { challengeOf, challengeToAdd } from './challenge-of.ts';
export { counterOf, whyUnproven } from './check-assertion.ts';
export { checkRegistration, passkeyAlgorithms } from './check-registration.ts';
