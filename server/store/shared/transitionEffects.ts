import type { FailingRound, Recovery } from '../../domain/autoIncidentTexts.ts'
import type { CertificateNotice } from '../../domain/certificateNotices.ts'
import type { AppliedEffect, Transition } from '../monitoringStore.ts'
import type { AutoIncidents } from './autoIncidents.ts'

/** Dependencies of the effects of transitions, in the caller's transaction. */
interface EffectParts {
  readonly autoIncidents: Pick<AutoIncidents, 'fail' | 'recover' | 'settle'>
  /** Stores a notice and its events; `false` when this notice, or one of a later threshold, was given before. */
  readonly giveNotice: (notice: CertificateNotice) => boolean
}

/** Applies a transition in the caller's transaction. */
export type ApplyEffect = (transition: Transition) => AppliedEffect

const NOTHING: AppliedEffect = { kind: 'nothing' }

/** The effects of transitions, by kind; other kinds have none. */
export function effectsOf({ autoIncidents, giveNotice }: EffectParts): ApplyEffect {
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
        return giveNotice(JSON.parse(body) as CertificateNotice) ? { kind: 'noticed' } : NOTHING
      default:
        return NOTHING
    }
  }
}
