import type { FailingRound, Recovery } from '../../domain/autoIncidentTexts.ts'
import type { CertificateNotice } from '../../domain/certificateNotices.ts'
import type { AutoIncidents } from './autoIncidents.ts'
import type { StoreCertificateNotice } from './certificateNotices.ts'
import type { ApplyEffect } from './monitoring.ts'
import type { Announce } from './notifications/announce.ts'

/** Prepares the effects of transitions. Those of other kinds have none here. */
export function prepareEffects(
  autoIncidents: AutoIncidents,
  storeNotice: StoreCertificateNotice,
  announce: Pick<Announce, 'certificate'>,
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
      case 'certificate.expiring': {
        const notice = JSON.parse(body) as CertificateNotice
        if (!storeNotice(notice)) return { kind: 'nothing' }
        announce.certificate(notice)
        return { kind: 'noticed' }
      }
      default:
        return { kind: 'nothing' }
    }
  }
}
