import { html } from '../../../web/html.ts'
import type { Route } from '../routing/route.ts'

/** The page of an organisation. */
export const organisationRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/o/:org/settings/organisation',
    access: 'read',
    handle: async ({ org }) => ({
      kind: 'page',
      title: 'Organisation',
      section: 'organisation',
      body: html`<h1>Organisation</h1>
<div class="group"><dl class="facts"><div><dt>Name</dt><dd><bdi>${org.name}</bdi></dd></div>
<div><dt>Id</dt><dd><code>${org.id}</code></dd></div><div><dt>Plan</dt><dd>${org.plan}</dd></div></dl></div>`,
    }),
  },
]
