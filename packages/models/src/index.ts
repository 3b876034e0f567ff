// The settings, errors and shapes of models. `open-models` is an entry point of its own: the AI SDK takes 0.6 s to load, and only the worker asks models.
export { costOf, describeModel, type ModelFacts, type ModelOverrides, type Sight, sightOf } from './describe-model.ts';
export { ModelError, type ModelErrorCode, unusableAnswer } from './errors.ts';
export { describeFailure, type Failure } from './failure.ts';
export { mostRequestBytes } from './images.ts';
export {
  accountProviders,
  describeModelProblem,
  modelProviders,
  type ProviderAccount,
  providerAccountOf,
} from './model-name.ts';
export {
  type Model,
  type ModelAnswer,
  type ModelDelta,
  type ModelImage,
  type ModelMessage,
  type ModelRequest,
  type ModelTool,
  type ModelToolCall,
  modelMessageSchema,
  type ReasoningEffort,
  type UsedByCut,
} from './port.ts';
export { type ProviderAddress, providerAddressOf } from './provider-address.ts';
export { type ModelSettings, modelSettingsFrom, type ProviderSettings } from './settings.ts';
export {
  type CountImage,
  tokensOf,
  tokensOfImage,
  tokensOfMessage,
  tokensOfPdf,
  tokensOfTools,
} from './tokens.ts';
