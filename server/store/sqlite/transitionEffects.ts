import type { CertificateNotice } from '../../domain/certificateNotices.ts'
import type { FailingRound, Recovery } from '../../domain/autoIncidentTexts.ts'
import type { AutoIncidents } from './autoIncidents.ts'
import type { StoreCertificateNotice } from './certificateNotices.ts'
import type { ApplyEffect } from './monitoring.ts'

/** Prepares the effects of transitions. Those of other kinds have none here. */
export function prepareEffects(
  autoIncidents: AutoIncidents,
  storeNotice: StoreCertificateNotice,
): ApplyEffect {
  return ({ kind, serviceId, atS, body }) => {
    switch (kind) {
      // True because the results thread wrote the bodies of these kinds.
      case 'service.round':
        return autoIncidents.fail(serviceId, JSON.parse(body) as FailingRound, atS)
      case 'service.recovered':
        return autoIncidents.recover(serviceId, JSON.parse(body) as Recovery)
      case 'service.steady':
        return autoIncidents.settle(serviceId, JSON.parse(body) as Recovery)
      case 'certificate.expiring':
        return { kind: storeNotice(JSON.parse(body) as CertificateNotice) ? 'noticed' : 'nothing' }
      default:
        return { kind: 'nothing' }
    }
  }
}
