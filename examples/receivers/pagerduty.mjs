// Triggers, acknowledges and resolves alerts of PagerDuty (Events API v2).
// Set PHAROS_WEBHOOK_SECRET and PAGERDUTY_ROUTING_KEY, the integration key of a service.
import { receive, required, send } from './receive.mjs'
import { summaryOf } from './summary.mjs'

const routingKey = required('PAGERDUTY_ROUTING_KEY')
const url = process.env.PAGERDUTY_URL ?? 'https://events.pagerduty.com/v2/enqueue'

const SEVERITIES = { major_outage: 'critical', partial_outage: 'error', degraded_performance: 'warning' }
const ACTIONS = {
  investigating: 'trigger',
  identified: 'acknowledge',
  monitoring: 'acknowledge',
  resolved: 'resolve',
}

receive(async (event) => {
  const { type, timestamp, data } = event
  if (type === 'channel.test') return
  const { title, lines } = summaryOf(event)
  const [action, key, severity] =
    type === 'certificate.expiring'
      ? ['trigger', `certificate ${data.certificate.sha256} ${data.host}:${data.port}`, 'warning']
      : [ACTIONS[data.update.status_at_update], data.incident.id, SEVERITIES[data.incident.severity]]
  await send('POST', url, {
    routing_key: routingKey,
    event_action: action,
    // All updates of an incident belong to one alert, even if one arrives twice.
    dedup_key: key,
    payload: {
      summary: title.slice(0, 1024),
      source: data.org.name,
      severity,
      timestamp,
      custom_details: { text: lines.join('\n') },
    },
  })
})
