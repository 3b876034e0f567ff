import { Command } from 'commander';
import type { Shell } from '../../shell/index.ts';
import * as change from './change-webhooks.ts';
import { deliveriesCommand, listWebhooksCommand, showWebhookCommand } from './read-webhooks.ts';

export function webhooksGroup(shell: Shell): Command {
  const webhooks = new Command('webhooks').description('events to other systems');
  webhooks.addCommand(listWebhooksCommand(shell));
  webhooks.addCommand(showWebhookCommand(shell));
  webhooks.addCommand(change.putWebhookCommand(shell));
  webhooks.addCommand(deliveriesCommand(shell));
  webhooks.addCommand(change.testWebhookCommand(shell));
  webhooks.addCommand(change.redeliverCommand(shell));
  webhooks.addCommand(change.rotateCommand(shell));
  webhooks.addCommand(change.offCommand(shell));
  webhooks.addCommand(change.onCommand(shell));
  webhooks.addCommand(change.deleteWebhookCommand(shell));
  return webhooks;
}
