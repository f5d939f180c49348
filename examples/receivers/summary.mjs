/** A title and lines of text that describe `event`; the last one is the page in the console, if there is one. */
export function summaryOf({ type, data }) {
  if (type === 'certificate.expiring') {
    const { host, port, days_left, certificate, endpoints } = data
    const ends = days_left < 0 ? 'has expired' : `expires in ${days_left} ${days_left === 1 ? 'day' : 'days'}`
    const services = [...new Set(endpoints.map(({ service }) => service.name ?? service.id))].join(', ')
    return {
      title: `Certificate of ${host}:${port} ${ends}`,
      lines: [
        `Services: ${services}`,
        `${certificate.subject}, until ${certificate.not_after}`,
        ...pageOf(data),
      ],
    }
  }
  if (type === 'channel.test') return { title: `Test of ${data.channel.name}`, lines: [] }
  const { incident, update } = data
  const services = incident.services.map(({ name, id }) => name ?? id).join(', ')
  return {
    title: `${incident.display_id} ${incident.title}`,
    lines: [
      `${update.status_at_update}: ${update.body}`,
      `Severity: ${incident.severity}`,
      `Services: ${services}`,
      ...pageOf(data),
    ],
  }
}

function pageOf({ url }) {
  return url === null ? [] : [url]
}
