import type { PublicIncident, PublicPage, PublicWindow } from '../view/publicPage.ts'

/** The page as JSON. `url` is its public URL. Gap G51. Pure. */
export function statusDocument(page: PublicPage, url: string): string {
  const { title, headline, asOf, sections, incidents, maintenance } = page
  return `${JSON.stringify({
    page: { title, url },
    state: headline.state,
    headline: headline.text,
    as_of: asOf,
    sections: sections.map(({ name, components }) => ({
      name,
      components: components.map(({ id, name, text, state, history }) => ({
        ...{ id, name, text, state },
        ...{ uptime_90d: history?.uptime ?? null, uptime_days: history?.uptimeDays ?? 0 },
        days: (history?.days ?? []).flatMap(({ day, seconds }) =>
          seconds === null ? [] : [{ day, ...seconds }],
        ),
      })),
    })),
    incidents: incidents.map((incident) => incidentOf(incident, url)),
    maintenance: maintenance.map(windowOf),
  })}\n`
}

function incidentOf(incident: PublicIncident, url: string) {
  const { displayId, title, status, severity, startedAt, resolvedAt, components, updates } = incident
  return {
    ...{ display_id: displayId, title, status, severity, components },
    started_at: startedAt,
    resolved_at: resolvedAt,
    url: `${url.replace(/\/$/, '')}/incidents/${displayId}`,
    updates: updates.map(({ at, status, body }) => ({ at, status, body })),
  }
}

function windowOf({ title, startsAt, endsAt, components }: PublicWindow) {
  return { title, starts_at: startsAt, ends_at: endsAt, components }
}
