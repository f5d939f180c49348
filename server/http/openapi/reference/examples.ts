import type { IncidentRequest, IncidentUpdateRequest } from '../../../../api/contract/incident.ts'
import type { ServiceRequest } from '../../../../api/contract/service.ts'

const SERVICE: ServiceRequest = {
  name: 'Shop',
  interval_secs: 60,
  regions: ['eu-west-1', 'us-east-1'],
  endpoints: [
    {
      url: 'https://shop.example/health',
      call: { Http: { method: 'GET', timeout: { secs: 5, nanos: 0 } } },
      assertions: [{ StatusCode: { expected: { Eq: 200 } } }],
    },
  ],
}
const INCIDENT: IncidentRequest = {
  title: 'Payments fail',
  message: 'We are looking into failing payments.',
  severity: 'partial_outage',
  service_ids: ['$SERVICE_ID'],
}
const UPDATE: IncidentUpdateRequest = { status: 'identified', body: 'A bad release. We roll it back.' }

/** Bodies of the examples, by operation. */
const BODIES: Readonly<Record<string, object>> = {
  createService: SERVICE,
  replaceService: { ...SERVICE, interval_secs: 120 },
  createIncident: INCIDENT,
  updateIncident: UPDATE,
}

/** Closes the single quotes around a body for a variable, so that the shell replaces it. */
const OUT_OF_QUOTES = `'"$SERVICE_ID"'`

/** Queries of the examples, by operation. */
const QUERIES: Readonly<Record<string, string>> = { listIncidents: '?section=active' }

/**
 * A curl command for the operation at `path`. It takes $PHAROS_URL and $PHAROS_API_KEY, and the id in the path from
 * $SERVICE_ID or $INCIDENT_ID. Pure.
 */
export function curlExample(method: string, path: string, operationId: string): string {
  const body = BODIES[operationId]
  const address = path.replace('{service_id}', '$SERVICE_ID').replace('{id}', '$INCIDENT_ID')
  const parts = [
    `curl --fail --silent --show-error${method === 'GET' ? '' : ` --request ${method}`}`,
    '--header "Authorization: Bearer $PHAROS_API_KEY"',
    ...(body === undefined
      ? []
      : [
          "--header 'Content-Type: application/json'",
          `--data '${JSON.stringify(body, null, 2).replaceAll('$SERVICE_ID', OUT_OF_QUOTES)}'`,
        ]),
    `"$PHAROS_URL${address}${QUERIES[operationId] ?? ''}"`,
  ]
  return parts.join(' \\\n  ')
}
