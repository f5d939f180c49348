/** go-plugin's health service, which Terraform does not use. */
import type { Method } from '../grpc/server.ts'
import { HEALTH, healthCheck } from '../wire/goplugin.ts'
import { emptyStream, oneMessage } from './earlyMethods.ts'

/** The service name in go-plugin's health checks. */
const HEALTH_NAME = 'plugin'

function responseTo(request: Uint8Array): Uint8Array {
  const { service } = healthCheck.request.decode(request)
  const status = service === '' || service === HEALTH_NAME ? HEALTH.serving : HEALTH.serviceUnknown
  return healthCheck.response.encode({ status })
}

/** The methods Check and Watch. The stream of Watch remains open until `ending` aborts. */
export function healthMethods(ending: AbortSignal): ReadonlyMap<string, Method> {
  return new Map<string, Method>([
    ['/grpc.health.v1.Health/Check', oneMessage(responseTo)],
    [
      '/grpc.health.v1.Health/Watch',
      {
        respond: async function* (request, cancelled) {
          yield responseTo(request)
          yield* emptyStream(cancelled, ending)
        },
      },
    ],
  ])
}
