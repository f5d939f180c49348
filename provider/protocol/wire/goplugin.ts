/** The messages of go-plugin's own services, which every plugin serves beside the provider. */
import { bool, bytes, message, nested, string, uint32 } from './message.ts'

/** `plugin.GRPCStdio`: a line that the plugin would forward; this framework sends none. */
export const stdioData = message({ channel: uint32(1), data: bytes(2) })

/** `plugin.GRPCBroker`: an offer of a further connection; providers make none. */
export const connInfo = message({
  serviceId: uint32(1),
  network: string(2),
  address: string(3),
  knock: nested(4, message({ knock: bool(1), ack: bool(2), error: string(3) })),
})

export const healthCheck = {
  request: message({ service: string(1) }),
  response: message({ status: uint32(1) }),
}

/** `HealthCheckResponse.ServingStatus`. */
export const HEALTH = { serving: 1, serviceUnknown: 3 } as const
